// The lorenzo codec against a plain reading of its page.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "codec/layout.h"
#include "codec/lorenzo_plain.h"
#include "codec/registry.h"
#include "codec/words.h"

namespace thinwire::codec::testing {
namespace {

template <typename Word>
void expect_round_trip(const std::vector<Word>& values, const Shape& shape, std::uint64_t tuple) {
  expect_coded_as(kLorenzo, values, shape, tuple, plain_payload(values, shape, tuple));
}

template <typename Word>
class Lorenzo : public ::testing::Test {};
using Words = ::testing::Types<std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Lorenzo, Words);

TYPED_TEST(Lorenzo, IsWhatItsPageSays) {
  const std::uint64_t row = 128 / sizeof(TypeParam);
  std::vector<Shape> shapes;
  for (const std::uint64_t count : {1u, 2u, 7u, 31u, 33u, 64u, 65u, 1000u, 2047u, 2048u}) {
    shapes.push_back(shape_of({count}));
  }
  shapes.push_back(shape_of({16384 / sizeof(TypeParam)}));
  for (const std::uint64_t y : {2u, 7u, 8u, 9u, 127u, 128u}) {
    for (const std::uint64_t x : {std::uint64_t{1}, std::uint64_t{3}, row - 1, row}) {
      shapes.push_back(shape_of({y, x}));
    }
  }
  for (const std::uint64_t z : {1u, 2u, 3u, 8u}) {
    for (const std::uint64_t y : {1u, 4u, 5u, 15u, 16u}) {
      for (const std::uint64_t x : {std::uint64_t{1}, std::uint64_t{5}, row}) {
        shapes.push_back(shape_of({z, y, x}));
      }
    }
  }
  for (const Shape& shape : shapes) {
    for (std::uint64_t tuple = 1; tuple <= 3; ++tuple) {
      for (int kind = 0; kind < kKinds; ++kind) {
        SCOPED_TRACE(::testing::Message()
                     << shape.extent[0] << " x " << shape.extent[1] << " x " << shape.extent[2]
                     << " of rank " << shape.rank << ", tuple " << tuple << ", kind " << kind);
        expect_round_trip(field<TypeParam>(shape.count(), kind), shape, tuple);
      }
    }
  }
}

TYPED_TEST(Lorenzo, WrongLengthsAreDamage) {
  const Shape shape = shape_of({5, 9, 20});
  const auto values = field<TypeParam>(shape.count(), kSmooth);
  const auto payload = encoded(kLorenzo, values, shape, 1);
  ASSERT_FALSE(payload.empty());
  std::vector<TypeParam> out;
  for (std::size_t length = 1; length < payload.size() + 24; ++length) {
    if (length == payload.size()) continue;
    auto other = payload;
    other.resize(length);
    EXPECT_EQ(decoded(kLorenzo, other, shape, 1, out).code(), StatusCode::kDamaged) << length;
  }
}

TYPED_TEST(Lorenzo, WidthsThatCannotBeAreDamage) {
  const Shape shape = shape_of({64});
  const std::size_t most = sizeof(TypeParam) == 2 ? 16 : 32;
  std::vector<TypeParam> out;
  for (std::size_t a = 0; a < 64; ++a) {
    for (const std::size_t b : {std::size_t{0}, most, most + 1, std::size_t{63}}) {
      // One brick or two, of which the second has no planes, and as many bytes as the widths say.
      const std::size_t bricks = sizeof(TypeParam) == 8 ? 4 : sizeof(TypeParam) == 4 ? 2 : 1;
      const std::size_t widths = (bricks * 12 + 31) / 32 * 4;
      const std::size_t half_bytes = sizeof(TypeParam) == 2 ? 4 : 2;
      std::vector<std::byte> payload((widths + half_bytes * (a + b) + 7) / 8 * 8);
      payload[0] = static_cast<std::byte>(a | b << 6);
      payload[1] = static_cast<std::byte>(b >> 2);
      const bool possible = a <= most && b <= most;
      EXPECT_EQ(decoded(kLorenzo, payload, shape, 1, out).ok(), possible) << a << " and " << b;
    }
  }
}

TYPED_TEST(Lorenzo, AnEmptyPayloadIsZeros) {
  std::vector<TypeParam> out;
  ASSERT_TRUE(decoded(kLorenzo, {}, shape_of({3, 5, 7}), 1, out).ok());
  EXPECT_EQ(out, std::vector<TypeParam>(105));
}

TEST(LorenzoCodec, TuplesOutOfRangeAreRefused) {
  for (const char* value : {"0", "4", "-1", "x", "", "1.5", "99999999999999999999"}) {
    const Option option{"tuple", value};
    EXPECT_EQ(kLorenzo.parse({&option, 1}).status().code(), StatusCode::kInvalidArgument) << value;
  }
  const Option unknown{"stride", "2"};
  EXPECT_FALSE(kLorenzo.parse({&unknown, 1}).ok());
  EXPECT_FALSE(kLorenzo.check(0, Dtype::kF32, 1).ok());
  EXPECT_FALSE(kLorenzo.check(4, Dtype::kF32, 1).ok());
  EXPECT_TRUE(kLorenzo.check(3, Dtype::kF64, 3).ok());
  EXPECT_EQ(*kLorenzo.parse({}), 1u);
}

TEST(LorenzoCodec, BoxesFollowTheAxesThatCount) {
  const auto box = [](std::initializer_list<std::uint64_t> extents, Dtype dtype) {
    const Shape shape = kLorenzo.chunk_shape(shape_of(extents), dtype, 1);
    return std::vector<std::uint64_t>(shape.extent.begin(), shape.extent.begin() + shape.rank);
  };
  using Extents = std::vector<std::uint64_t>;
  EXPECT_EQ(box({100}, Dtype::kF32), (Extents{4096}));
  EXPECT_EQ(box({9, 9}, Dtype::kF64), (Extents{128, 16}));
  EXPECT_EQ(box({9, 9, 9}, Dtype::kF32), (Extents{8, 16, 32}));
  EXPECT_EQ(box({9, 9, 9}, Dtype::kF16), (Extents{8, 16, 64}));
  EXPECT_EQ(box({1, 9, 9}, Dtype::kF32), (Extents{1, 128, 32}));
  EXPECT_EQ(box({9, 1, 9}, Dtype::kF32), (Extents{128, 1, 32}));
  EXPECT_EQ(box({1, 1, 9}, Dtype::kBf16), (Extents{1, 1, 8192}));
}

TEST(LorenzoCodec, AFieldShrinksInItsOwnShape) {
  std::vector<std::uint32_t> values(8 * 16 * 32);
  for (std::size_t at = 0; at < values.size(); ++at) {
    const auto x = static_cast<double>(at % 32), y = static_cast<double>(at / 32 % 16);
    const auto z = static_cast<double>(at / 512);
    const auto value = static_cast<float>(std::sin(0.1 * x) * std::cos(0.13 * y) + 0.01 * z);
    std::memcpy(&values[at], &value, 4);
  }
  const std::size_t in_3d = encoded(kLorenzo, values, shape_of({8, 16, 32}), 1).size();
  EXPECT_LT(in_3d, encoded(kLorenzo, values, shape_of({4096}), 1).size());
  EXPECT_LT(in_3d, 3 * values.size());
}

}  // namespace
}  // namespace thinwire::codec::testing
