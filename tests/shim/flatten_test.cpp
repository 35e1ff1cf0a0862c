// Flattened datatypes against MPI's own packing, for every constructor.
#include "shim/mpi/native/flatten.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/world.h"

namespace thinwire::mpi {
namespace {

constexpr int kMiddle = 4096;  // where the buffer's address is, so that types may reach back

// One MPI_Init for the process: MPI cannot start twice.
class Flatten : public testing::Test {
 protected:
  static void SetUpTestSuite() { real().Init(nullptr, nullptr); }
  static void TearDownTestSuite() { real().Finalize(); }
};

std::vector<unsigned char> numbered() {
  std::vector<unsigned char> memory(2 * kMiddle);
  std::iota(memory.begin(), memory.end(), static_cast<unsigned char>(7));
  for (std::size_t at = 0; at < memory.size(); ++at) memory[at] ^= at >> 8;
  return memory;
}

std::vector<unsigned char> packed_by_mpi(MPI_Datatype type, int count) {
  const auto memory = numbered();
  const std::uint64_t bytes = type_facts(type).size * count;
  std::vector<unsigned char> out(bytes + 1);
  const ByteCount as(bytes);
  EXPECT_EQ(self_copy(memory.data() + kMiddle, count, type, out.data(), as.count(), as.type()),
            MPI_SUCCESS);
  out.resize(bytes);
  return out;
}

// Memory into which the MPI has received a message as elements of `type`.
std::vector<unsigned char> received_by_mpi(MPI_Datatype type, int count, std::uint64_t bytes) {
  const auto stream = numbered();
  std::vector<unsigned char> memory(2 * kMiddle);
  const ByteCount as(bytes);
  EXPECT_EQ(self_copy(stream.data(), as.count(), as.type(), memory.data() + kMiddle, count, type),
            MPI_SUCCESS);
  return memory;
}

// The map's copies and its datatype of bytes, for messages of every length: all mean what `type`
// means, also where they end inside an element.
void expect_byte_form(MPI_Datatype type, int count) {
  const ByteForm form = byte_form_of(type);
  ASSERT_TRUE(form.map && form.type);
  const std::uint64_t all = form.map->bytes() * static_cast<std::uint64_t>(count);
  std::vector<unsigned char> packed(all);
  auto memory = numbered();
  gather({memory.data() + kMiddle, form.map}, all, packed.data());
  EXPECT_EQ(packed, packed_by_mpi(type, count));
  for (const std::uint64_t whole : {all, form.map->bytes()}) {  // elements, whatever they hold
    EXPECT_EQ(received_by_mpi(*form.type, count, whole), received_by_mpi(type, count, whole));
  }
  const auto stream = numbered();
  for (const std::uint64_t bytes : {all, all - 1, all / 2 + 1, std::uint64_t{1}}) {
    std::vector<unsigned char> expected(2 * kMiddle);
    scatter(stream.data(), bytes, {expected.data() + kMiddle, form.map});
    EXPECT_EQ(received_by_mpi(*form.type, count, bytes), expected) << bytes;
  }
}

std::vector<unsigned char> packed_by_segments(MPI_Datatype type, int count) {
  const auto memory = numbered();
  const auto segments = flatten(type);
  EXPECT_TRUE(segments.has_value());
  MPI_Count lower = 0, extent = 0;
  real().Type_get_extent_x(type, &lower, &extent);
  std::vector<unsigned char> out;
  for (int at = 0; at < count && segments; ++at) {
    for (const tw_segment& segment : *segments) {
      const unsigned char* from = memory.data() + kMiddle + at * extent + segment.offset;
      out.insert(out.end(), from, from + segment.bytes);
    }
  }
  return out;
}

// `type` is freed; `most_segments` says what merging must reach.
void expect_same(MPI_Datatype type, std::size_t most_segments = SIZE_MAX) {
  real().Type_commit(&type);
  EXPECT_EQ(packed_by_segments(type, 1), packed_by_mpi(type, 1));
  EXPECT_EQ(packed_by_segments(type, 3), packed_by_mpi(type, 3));
  EXPECT_LE(flatten(type)->size(), most_segments);
  if (most_segments > 0) {
    expect_byte_form(type, 1);
    expect_byte_form(type, 3);
  }
  real().Type_free(&type);
}

TEST_F(Flatten, Predefined) {
  for (const MPI_Datatype type : {MPI_FLOAT, MPI_DOUBLE, MPI_BYTE}) {
    EXPECT_EQ(packed_by_segments(type, 5), packed_by_mpi(type, 5));
    EXPECT_EQ(flatten(type)->size(), 1u);
  }
}

TEST_F(Flatten, LoopsAreNotListed) {
  MPI_Datatype vector = MPI_DATATYPE_NULL, nested = MPI_DATATYPE_NULL;
  PMPI_Type_vector(1 << 28, 1, 4, MPI_FLOAT, &vector);
  PMPI_Type_create_hvector(3, 1, std::int64_t{1} << 40, vector, &nested);
  for (MPI_Datatype type : {vector, nested}) {
    real().Type_commit(&type);
    const ByteForm form = byte_form_of(type);
    ASSERT_TRUE(form.map && form.type);
    EXPECT_EQ(form.map->segments().size(), 1u);
    EXPECT_EQ(form.map->bytes(), type_facts(type).size);
  }
  EXPECT_EQ(byte_form_of(vector).map->high(), (std::int64_t{4} << 30) - 12);
  real().Type_free(&nested);
  real().Type_free(&vector);
}

TEST_F(Flatten, ManyBlocksAreListedForTypesInUse) {
  std::vector<int> places(5000);
  for (int at = 0; at < 5000; ++at)
    places[static_cast<std::size_t>(at)] = 3 * at + (at * 7 % 5 == 0);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  PMPI_Type_create_indexed_block(5000, 1, places.data(), MPI_FLOAT, &type);
  real().Type_commit(&type);
  for (int use = 0; use < 8; ++use) EXPECT_FALSE(byte_form_of(type).map);
  EXPECT_FALSE(known_map_of(type));
  EXPECT_TRUE(byte_form_of(type).map);
  EXPECT_EQ(known_map_of(type)->segments().size(), 5000u);
  real().Type_free(&type);
}

TEST_F(Flatten, PairsWithGaps) {
  // Looked up by hand: the shim itself does not know these handles.
  for (const char* name : {"ompi_mpi_short_int", "ompi_mpi_double_int", "ompi_mpi_long_int",
                           "ompi_mpi_longdbl_int", "ompi_mpi_float_int", "ompi_mpi_2int"}) {
    const auto type = static_cast<MPI_Datatype>(find_symbol(name));
    ASSERT_NE(type, nullptr) << name;
    EXPECT_EQ(packed_by_segments(type, 5), packed_by_mpi(type, 5)) << name;
  }
}

TEST_F(Flatten, ContiguousAndDup) {
  MPI_Datatype type, copy;
  real().Type_contiguous(6, MPI_FLOAT, &type);
  real().Type_dup(type, &copy);
  expect_same(type, 1);
  expect_same(copy, 1);
}

TEST_F(Flatten, Vectors) {
  MPI_Datatype type;
  PMPI_Type_vector(5, 2, 4, MPI_FLOAT, &type);
  expect_same(type, 5);
  PMPI_Type_vector(5, 2, -4, MPI_FLOAT, &type);  // backwards, below the buffer
  expect_same(type, 5);
  PMPI_Type_vector(5, 4, 4, MPI_DOUBLE, &type);  // no gap at all
  expect_same(type, 1);
  PMPI_Type_create_hvector(7, 3, 13, MPI_BYTE, &type);
  expect_same(type, 7);
  PMPI_Type_create_hvector(7, 1, -9, MPI_FLOAT, &type);
  expect_same(type, 7);
}

TEST_F(Flatten, Indexed) {
  const int lengths[] = {3, 0, 2, 1}, places[] = {9, 4, -6, 0};
  const MPI_Aint bytes[] = {36, 7, -24, 1};
  MPI_Datatype type;
  PMPI_Type_indexed(4, lengths, places, MPI_FLOAT, &type);
  expect_same(type, 3);
  PMPI_Type_create_hindexed(4, lengths, bytes, MPI_FLOAT, &type);
  expect_same(type, 3);
  PMPI_Type_create_indexed_block(4, 2, places, MPI_DOUBLE, &type);
  expect_same(type, 4);
  PMPI_Type_create_hindexed_block(4, 2, bytes, MPI_DOUBLE, &type);
  expect_same(type, 4);
}

TEST_F(Flatten, PermutedKeepsItsOrder) {
  const int places[] = {3, 2, 1, 0};
  MPI_Datatype type;
  PMPI_Type_create_indexed_block(4, 1, places, MPI_FLOAT, &type);
  expect_same(type);
}

TEST_F(Flatten, Struct) {
  MPI_Datatype inner, type;
  PMPI_Type_vector(3, 1, 2, MPI_DOUBLE, &inner);
  const int lengths[] = {3, 2, 1};
  const MPI_Aint places[] = {-40, 8, 200};
  const MPI_Datatype parts[] = {MPI_FLOAT, inner, MPI_BYTE};
  real().Type_create_struct(3, lengths, places, parts, &type);
  real().Type_free(&inner);
  expect_same(type);
  real().Type_create_struct(0, lengths, places, parts, &type);
  expect_same(type, 0);
}

TEST_F(Flatten, Resized) {
  MPI_Datatype inner, type;
  PMPI_Type_vector(3, 1, 2, MPI_FLOAT, &inner);
  PMPI_Type_create_resized(inner, -8, 40, &type);
  expect_same(type, 3);
  PMPI_Type_create_resized(inner, 0, -64, &type);  // elements that follow to the left
  expect_same(type, 3);
  PMPI_Type_create_resized(inner, 0, 4, &type);  // elements that interleave
  MPI_Datatype outer;
  PMPI_Type_vector(2, 2, 8, type, &outer);
  real().Type_free(&type);
  real().Type_free(&inner);
  expect_same(outer);
}

TEST_F(Flatten, Subarrays) {
  const int sizes[] = {5, 6, 7}, extents[] = {2, 3, 4}, starts[] = {1, 2, 3};
  for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
    for (const int rank : {1, 2, 3}) {
      MPI_Datatype type;
      PMPI_Type_create_subarray(rank, sizes, extents, starts, order, MPI_FLOAT, &type);
      expect_same(type, 12);
    }
  }
  const int whole[] = {0, 0, 0};
  MPI_Datatype type;
  PMPI_Type_create_subarray(3, sizes, sizes, whole, MPI_ORDER_C, MPI_FLOAT, &type);
  expect_same(type, 1);
}

TEST_F(Flatten, DistributedArrays) {
  const int sizes[] = {7, 9, 5}, processes[] = {2, 3, 1};
  const int ways[][3] = {{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE},
                         {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE},
                         {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}};
  const int defaults[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG,
                          MPI_DISTRIBUTE_DFLT_DARG};
  const int stated[] = {4, 2, 5};
  for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
    for (int rank = 0; rank < 6; ++rank) {
      MPI_Datatype type;
      for (const auto& way : ways) {
        PMPI_Type_create_darray(6, rank, 3, sizes, way, defaults, processes, order, MPI_FLOAT,
                                &type);
        expect_same(type);
      }
      PMPI_Type_create_darray(6, rank, 2, sizes, ways[2], stated, processes, order, MPI_DOUBLE,
                              &type);
      expect_same(type);
    }
  }
}

TEST_F(Flatten, Nested) {
  const int sizes[] = {4, 5}, extents[] = {2, 3}, starts[] = {1, 1};
  const int places[] = {2, 0};
  MPI_Datatype block, column, type;
  PMPI_Type_create_subarray(2, sizes, extents, starts, MPI_ORDER_FORTRAN, MPI_FLOAT, &block);
  PMPI_Type_create_resized(block, 0, 4, &column);
  PMPI_Type_create_indexed_block(2, 2, places, column, &type);
  real().Type_free(&block);
  real().Type_free(&column);
  expect_same(type);
}

TEST_F(Flatten, MillionsOfSegments) {
  constexpr int kBlocks = 3'000'000;
  MPI_Datatype type;
  PMPI_Type_vector(kBlocks, 1, 2, MPI_FLOAT, &type);
  const auto segments = flatten(type);
  ASSERT_TRUE(segments);
  ASSERT_EQ(segments->size(), std::size_t{kBlocks});
  EXPECT_EQ(segments->back().offset, 8LL * (kBlocks - 1));
  real().Type_free(&type);
}

TEST_F(Flatten, LevelsTakeNoMemoryForTheirBlocks) {
  MPI_Datatype type;
  PMPI_Type_vector(3'000'000, 1, 2, MPI_FLOAT, &type);
  real().Type_commit(&type);
  const ByteForm form = byte_form_of(type);
  ASSERT_TRUE(form.map && form.type);
  EXPECT_EQ(form.map->segments().size(), 1u);
  EXPECT_EQ(byte_form_of(type).map, form.map);  // made once
  real().Type_free(&type);
  EXPECT_EQ(form.map->bytes(), 12'000'000u);  // and held as long as somebody needs it
}

// As where another thread frees the handle that MPI_Type_get_contents gave it.
TEST_F(Flatten, TheByteFormStaysWhoeverFreesTheType) {
  MPI_Datatype type;
  PMPI_Type_vector(3, 1, 2, MPI_FLOAT, &type);
  real().Type_commit(&type);
  ByteForm form = byte_form_of(type);
  ASSERT_TRUE(form.type);
  const std::weak_ptr<const MPI_Datatype> watched = form.type;
  use_types_in_threads(true);
  forget_type(type);
  use_types_in_threads(false);
  EXPECT_EQ(received_by_mpi(*form.type, 2, 24), received_by_mpi(type, 2, 24));
  form = {};
  EXPECT_TRUE(watched.expired());
  real().Type_free(&type);
}

TEST_F(Flatten, AnUncommittedTypeHasNoByteForm) {
  MPI_Datatype type;
  PMPI_Type_vector(5, 2, 4, MPI_FLOAT, &type);
  EXPECT_FALSE(byte_form_of(type).map);
  real().Type_commit(&type);
  EXPECT_TRUE(byte_form_of(type).map);
  real().Type_free(&type);
}

TEST_F(Flatten, FactsOfShapes) {
  const int sizes[] = {5, 6, 7}, extents[] = {2, 1, 4}, starts[] = {1, 2, 3};
  MPI_Datatype type;
  PMPI_Type_create_subarray(3, sizes, extents, starts, MPI_ORDER_FORTRAN, MPI_FLOAT, &type);
  TypeFacts facts = type_facts(type);
  EXPECT_EQ(facts.rank, 2u);  // an extent of 1 says nothing
  EXPECT_EQ(facts.extent[0], 4u);
  EXPECT_EQ(facts.extent[1], 2u);
  real().Type_free(&type);
  PMPI_Type_vector(5, 2, 4, MPI_DOUBLE, &type);
  facts = type_facts(type);
  EXPECT_EQ(facts.rank, 2u);
  EXPECT_EQ(facts.extent[0], 5u);
  EXPECT_EQ(facts.extent[1], 2u);
  real().Type_free(&type);
  EXPECT_EQ(type_facts(MPI_FLOAT).rank, 0u);
}

bool is_dense(MPI_Datatype type) {
  const bool found = type_facts(type).dense;
  real().Type_free(&type);
  return found;
}

TEST_F(Flatten, TypesWithoutGapsAreDenseIfTheyKeepTheOrder) {
  const int sizes[] = {5, 6}, extents[] = {5, 4}, starts[] = {0, 0};
  const int lengths[] = {2, 2}, permuted[] = {2, 0};
  MPI_Datatype type, part;
  PMPI_Type_vector(5, 4, 4, MPI_DOUBLE, &type);
  EXPECT_TRUE(is_dense(type));
  PMPI_Type_vector(5, 2, 4, MPI_DOUBLE, &type);
  EXPECT_FALSE(is_dense(type));
  PMPI_Type_vector(5, 4, -4, MPI_DOUBLE, &type);
  EXPECT_FALSE(is_dense(type));
  PMPI_Type_create_hvector(5, 3, 12, MPI_FLOAT, &type);
  EXPECT_TRUE(is_dense(type));
  PMPI_Type_create_hvector(3, 4, 8, MPI_FLOAT, &type);  // blocks that lie over each other
  EXPECT_FALSE(is_dense(type));
  for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
    PMPI_Type_create_subarray(2, sizes, sizes, starts, order, MPI_FLOAT, &type);
    EXPECT_TRUE(is_dense(type));
    PMPI_Type_create_subarray(2, sizes, extents, starts, order, MPI_FLOAT, &type);
    EXPECT_FALSE(is_dense(type));
  }
  PMPI_Type_indexed(2, lengths, permuted, MPI_FLOAT, &part);
  EXPECT_FALSE(type_facts(part).dense);
  PMPI_Type_vector(3, 2, 2, part, &type);
  EXPECT_FALSE(is_dense(type));
  real().Type_free(&part);
}

void expect_facts(MPI_Datatype type, tw_dtype leaf, Values values) {
  const TypeFacts facts = type_facts(type);
  EXPECT_EQ(facts.leaf, leaf);
  EXPECT_EQ(facts.values, values);
}

TEST_F(Flatten, FactsOfNamedTypes) {
  for (const MPI_Datatype type : {MPI_FLOAT, MPI_REAL, MPI_REAL4}) {
    expect_facts(type, TW_F32, Values::kReals);
  }
  for (const MPI_Datatype type : {MPI_DOUBLE, MPI_DOUBLE_PRECISION, MPI_REAL8}) {
    expect_facts(type, TW_F64, Values::kReals);
  }
  for (const MPI_Datatype type : {MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX,
                                  MPI_COMPLEX, MPI_COMPLEX8, MPI_2REAL}) {
    expect_facts(type, TW_F32, Values::kPairs);
  }
  for (const MPI_Datatype type : {MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX,
                                  MPI_COMPLEX16, MPI_2DOUBLE_PRECISION}) {
    expect_facts(type, TW_F64, Values::kPairs);
  }
  for (const MPI_Datatype type :
       {MPI_BYTE, MPI_UINT8_T, MPI_INT8_T, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_SHORT,
        MPI_UNSIGNED_SHORT, MPI_INT16_T, MPI_UINT16_T}) {
    expect_facts(type, TW_BYTES, Values::kWords);
  }
  for (const MPI_Datatype type : {MPI_INT32_T, MPI_UINT64_T}) {
    expect_facts(type, TW_BYTES, Values::kOthers);
  }
}

// Those that Fortran 90 describes by their precision are no handles of the list.
TEST_F(Flatten, FactsOfDescribedTypes) {
  MPI_Datatype type;
  PMPI_Type_create_f90_real(6, 30, &type);
  expect_facts(type, TW_F32, Values::kReals);
  PMPI_Type_create_f90_real(15, 300, &type);
  expect_facts(type, TW_F64, Values::kReals);
  PMPI_Type_create_f90_complex(15, 300, &type);
  expect_facts(type, TW_F64, Values::kPairs);
  PMPI_Type_create_f90_integer(9, &type);
  expect_facts(type, TW_BYTES, Values::kOthers);
}

TEST_F(Flatten, FactsOfStructsOfSeveralKinds) {
  const struct {
    MPI_Datatype types[2];
    tw_dtype leaf;
    Values values;
  } cases[] = {
      {{MPI_FLOAT, MPI_C_FLOAT_COMPLEX}, TW_F32, Values::kPairs},
      {{MPI_C_FLOAT_COMPLEX, MPI_FLOAT}, TW_F32, Values::kPairs},
      {{MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX}, TW_BYTES, Values::kOthers},
      {{MPI_BYTE, MPI_SHORT}, TW_BYTES, Values::kWords},
      {{MPI_SHORT, MPI_INT32_T}, TW_BYTES, Values::kOthers},
      {{MPI_INT32_T, MPI_SHORT}, TW_BYTES, Values::kOthers},
      {{MPI_FLOAT, MPI_BYTE}, TW_BYTES, Values::kOthers},
      {{MPI_BYTE, MPI_FLOAT}, TW_BYTES, Values::kOthers},
  };
  for (const auto& each : cases) {
    const int lengths[] = {3, 5};
    const MPI_Aint places[] = {0, 64};
    MPI_Datatype type;
    PMPI_Type_create_struct(2, lengths, places, each.types, &type);
    expect_facts(type, each.leaf, each.values);
    real().Type_free(&type);
  }
}

}  // namespace
}  // namespace thinwire::mpi
