// The code for each vector unit, of which a machine chooses one, gives the bytes and values of the
// library's. CMake builds it for each, in a namespace of its own.
#include <gtest/gtest.h>

#include "codec/zfp/blocks.h"
#include "codec/zfp/line.h"
#include "codec/zfp/sizes.h"
#include "codec/zfp_arrays.h"

#ifndef THINWIRE_ZFP_UNITS
#define THINWIRE_ZFP_UNITS(UNIT)
#endif

#define DECLARE(space, processor)                                             \
  namespace thinwire::codec::space {                                          \
  bool encode_blocks(const std::byte*, Dtype, const Shape&, int, std::byte*); \
  void decode_blocks(const std::byte*, Dtype, const Shape&, int, std::byte*); \
  bool encode_line(const std::byte*, std::uint64_t, int, std::byte*);         \
  void decode_line(const std::byte*, std::uint64_t, int, std::byte*);         \
  }
THINWIRE_ZFP_UNITS(DECLARE)

namespace thinwire::codec::testing {
namespace {

struct Unit {
  const char* name;
  bool is_here;
  decltype(&zfp::encode_blocks) encode;
  decltype(&zfp::decode_blocks) decode;
  decltype(&zfp::encode_line) encode_line;
  decltype(&zfp::decode_line) decode_line;
};

std::vector<Unit> units() {
#define ROW(space, processor)              \
  {processor,                              \
   __builtin_cpu_supports(processor) != 0, \
   space::encode_blocks,                   \
   space::decode_blocks,                   \
   space::encode_line,                     \
   space::decode_line},
  return {THINWIRE_ZFP_UNITS(ROW)};
}

using Bytes = std::vector<std::byte>;

template <typename Scalar>
Bytes encoded(const Unit& unit, const std::vector<Scalar>& values, const Shape& shape, int bits) {
  Bytes stream(zfp::encoded_bytes(zfp::make_grid(shape).blocks(), bits));
  const auto* source = reinterpret_cast<const std::byte*>(values.data());
  const bool is_line = sizeof(Scalar) == 4 && shape.rank == 1;
  EXPECT_TRUE(is_line ? unit.encode_line(source, shape.count(), bits, stream.data())
                      : unit.encode(source, kDtypeOf<Scalar>, shape, bits, stream.data()));
  return stream;
}

template <typename Scalar>
auto decoded(const Unit& unit, const Bytes& stream, const Shape& shape, int bits) {
  std::vector<Scalar> values(shape.count());
  auto* out = reinterpret_cast<std::byte*>(values.data());
  if (sizeof(Scalar) == 4 && shape.rank == 1) {
    unit.decode_line(stream.data(), shape.count(), bits, out);
  } else {
    unit.decode(stream.data(), kDtypeOf<Scalar>, shape, bits, out);
  }
  return bits_of(values);
}

template <typename Scalar>
void expect_same(const Unit& unit, const Shape& shape, Kind kind, int bits, std::mt19937& random) {
  SCOPED_TRACE(::testing::Message()
               << unit.name << ", rank " << shape.rank << ", " << kKindNames[static_cast<int>(kind)]
               << ", blocks of " << bits);
  const Unit library{
      "", true, zfp::encode_blocks, zfp::decode_blocks, zfp::encode_line, zfp::decode_line};
  const auto values = make_array<Scalar>(kind, shape.count());
  Bytes stream = encoded(library, values, shape, bits);
  ASSERT_EQ(encoded(unit, values, shape, bits), stream);
  ASSERT_EQ(decoded<Scalar>(unit, stream, shape, bits),
            decoded<Scalar>(library, stream, shape, bits));
  for (auto& byte : stream) byte &= static_cast<std::byte>(random());
  ASSERT_EQ(decoded<Scalar>(unit, stream, shape, bits),
            decoded<Scalar>(library, stream, shape, bits));
}

template <typename Scalar>
class ZfpUnits : public ::testing::Test {};
TYPED_TEST_SUITE(ZfpUnits, ZfpScalars, DtypeNames);

TYPED_TEST(ZfpUnits, GiveTheBytesOfTheLibrary) {
  std::mt19937 random(1);
  int here = 0;
  for (const Unit& unit : units()) {
    if (!unit.is_here) continue;
    ++here;
    for (const Shape& shape : {Shape::line(517), make_shape({11, 135}), make_shape({6, 9, 70})}) {
      for (const int rate : {1, 17, 64, 200, 256, 640, 1024, 1601, 2048}) {
        const int bits =
            zfp::block_bits(static_cast<std::uint64_t>(rate), kDtypeOf<TypeParam>, shape.rank);
        for (const Kind kind : kAllKinds) {
          expect_same<TypeParam>(unit, shape, kind, bits, random);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
  if (here < 2) GTEST_SKIP() << "this build and processor have one vector unit";
}

}  // namespace
}  // namespace thinwire::codec::testing
