#include "abi/datatypes.h"

#include <climits>
#include <mutex>
#include <vector>

#include "abi/real.h"
#include "abi/self.h"
#include "process/shortcut.h"

namespace thinwire::mpi {
namespace {

int g_keyval = MPI_KEYVAL_INVALID;
std::once_flag g_keyval_once;
std::mutex g_attribute_mutex;

extern "C" int thinwire_type_not_copied(MPI_Datatype, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

extern "C" int thinwire_type_deleted(MPI_Datatype, int, void* facts, void*) {
  delete static_cast<TypeFacts*>(facts);
  return MPI_SUCCESS;
}

tw_dtype named_leaf(MPI_Datatype type) {
  if (type == MPI_FLOAT || type == MPI_REAL || type == MPI_REAL4) return TW_F32;
  if (type == MPI_DOUBLE || type == MPI_REAL8 || type == MPI_DOUBLE_PRECISION) return TW_F64;
  return TW_BYTES;
}

// An element without gaps whose next element follows at once.
bool extent_is_size(MPI_Datatype type, std::uint64_t size) {
  MPI_Count lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  real().Type_get_extent_x(type, &lower, &extent);
  real().Type_get_true_extent_x(type, &true_lower, &true_extent);
  return lower == 0 && true_lower == 0 && static_cast<std::uint64_t>(extent) == size &&
         static_cast<std::uint64_t>(true_extent) == size;
}

TypeFacts examine(MPI_Datatype type);

// MPI_Type_get_contents hands out references to free, but for predefined types: the named ones and
// those that Fortran 90 describes by precision and range.
void release_part(MPI_Datatype part) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  real().Type_get_envelope(part, &integers, &addresses, &types, &combiner);
  const bool predefined = combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
                          combiner == MPI_COMBINER_F90_COMPLEX ||
                          combiner == MPI_COMBINER_F90_INTEGER;
  if (!predefined) real().Type_free(&part);
}

// Types built from others: all leaves must agree, and only constructors that keep the order of
// their elements can be dense (a permuted indexed type has size equal to extent too).
TypeFacts examine_derived(MPI_Datatype type, int integers, int addresses, int types, int combiner) {
  std::vector<int> integer_values(integers);
  std::vector<MPI_Aint> address_values(addresses);
  std::vector<MPI_Datatype> parts(types);
  TypeFacts facts;
  if (real().Type_get_contents(type, integers, addresses, types, integer_values.data(),
                               address_values.data(), parts.data()) != MPI_SUCCESS) {
    return facts;
  }
  bool agree = types > 0, dense = types == 1;
  for (int at = 0; at < types; ++at) {
    const TypeFacts part = examine(parts[at]);
    agree = agree && part.leaf != TW_BYTES && (at == 0 || part.leaf == facts.leaf);
    if (at == 0) facts.leaf = part.leaf;
    dense = dense && part.dense;
    release_part(parts[at]);
  }
  if (!agree) facts.leaf = TW_BYTES;
  facts.dense = dense && (combiner == MPI_COMBINER_CONTIGUOUS || combiner == MPI_COMBINER_DUP);
  return facts;
}

TypeFacts examine(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  real().Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  MPI_Count size = 0;
  real().Type_size_x(type, &size);
  TypeFacts facts;
  if (combiner == MPI_COMBINER_NAMED) {
    facts.leaf = named_leaf(type);
    facts.dense = true;
  } else {
    facts = examine_derived(type, integers, addresses, types, combiner);
  }
  facts.size = size < 0 ? 0 : static_cast<std::uint64_t>(size);
  // A Fortran compiler's options can make MPI_REAL 8 bytes wide.
  if (combiner == MPI_COMBINER_NAMED && facts.leaf == TW_F32 && size != 4) facts.leaf = TW_BYTES;
  facts.dense = facts.dense && extent_is_size(type, facts.size);
  return facts;
}

const TypeFacts* find_facts(MPI_Datatype type) {
  void* kept = nullptr;
  int found = 0;
  real().Type_get_attr(type, g_keyval, &kept, &found);
  return found ? static_cast<const TypeFacts*>(kept) : nullptr;
}

}  // namespace

TypeFacts type_facts(MPI_Datatype type) {
  // The types that carry nearly all traffic need no attribute.
  if (type == MPI_FLOAT) return {4, TW_F32, true};
  if (type == MPI_DOUBLE) return {8, TW_F64, true};
  if (type == MPI_BYTE) return {1, TW_BYTES, true};
  std::call_once(g_keyval_once, [] {
    real().Type_create_keyval(thinwire_type_not_copied, thinwire_type_deleted, &g_keyval, nullptr);
  });
  if (const TypeFacts* kept = find_facts(type)) return *kept;
  const TypeFacts facts = examine(type);
  // Replacing an attribute deletes the one that another thread may be reading.
  const std::lock_guard lock(g_attribute_mutex);
  if (find_facts(type) != nullptr) return facts;
  auto* copy = new TypeFacts(facts);
  if (real().Type_set_attr(type, g_keyval, copy) != MPI_SUCCESS) delete copy;
  return facts;
}

bool is_null_buffer(const void* buffer, MPI_Datatype type) {
  return buffer == nullptr && type_facts(type).dense;
}

std::uint64_t wide_message_bytes(int count, MPI_Datatype type) {
  MPI_Count wide = 0;
  real().Type_size_x(type, &wide);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(wide);
}

ByteCount::ByteCount(std::uint64_t bytes) : count_(static_cast<int>(bytes)), type_(MPI_BYTE) {
  if (bytes <= INT_MAX) return;
  constexpr std::uint64_t kBlock = 1 << 30;
  MPI_Datatype block = MPI_BYTE;
  real().Type_contiguous(static_cast<int>(kBlock), MPI_BYTE, &block);
  int lengths[2] = {static_cast<int>(bytes / kBlock), static_cast<int>(bytes % kBlock)};
  MPI_Aint places[2] = {0, static_cast<MPI_Aint>(bytes / kBlock * kBlock)};
  MPI_Datatype types[2] = {block, MPI_BYTE};
  real().Type_create_struct(2, lengths, places, types, &type_);
  real().Type_commit(&type_);
  real().Type_free(&block);
  count_ = 1;
  owned_ = true;
}

ByteCount::~ByteCount() {
  if (owned_) real().Type_free(&type_);
}

// A message to oneself is the one conversion that MPI defines for any datatype, absolute
// addresses and partial last elements included.
int pack(const void* buffer, int count, MPI_Datatype type, void* dense, std::uint64_t bytes) {
  const ByteCount as_bytes(bytes);
  return self_copy(buffer, count, type, dense, as_bytes.count(), as_bytes.type());
}

int unpack(const void* dense, std::uint64_t bytes, void* buffer, int count, MPI_Datatype type) {
  const ByteCount as_bytes(bytes);
  return self_copy(dense, as_bytes.count(), as_bytes.type(), buffer, count, type);
}

void release_type_cache() {
  if (g_keyval != MPI_KEYVAL_INVALID) real().Type_free_keyval(&g_keyval);
}

}  // namespace thinwire::mpi
