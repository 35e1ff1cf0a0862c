// Version 0 of the ans codec, which is decoded alone: payloads by a plain reading of its page.
#include "codec/registry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "codec/ans_plain.h"
#include "codec/ans_values.h"
#include "codec/words.h"

namespace thinwire::codec::testing {
namespace {

constexpr int kFew = kKinds;

// Values of 8 bits are the upper halves of those of 16.
template <typename Word>
std::vector<Word> values_of(std::size_t count, int kind) {
  if (kind == kFew) {
    std::mt19937 random(static_cast<unsigned>(count));
    std::geometric_distribution<int> draw(0.7);
    std::vector<Word> values(count);
    for (Word& value : values) value = static_cast<Word>(0x3E20 + 3 * std::min(draw(random), 9));
    return values;
  }
  if constexpr (sizeof(Word) == 1) {
    std::vector<Word> values;
    for (const std::uint16_t wide : field<std::uint16_t>(count, kind)) {
      values.push_back(static_cast<Word>(wide >> 8));
    }
    return values;
  } else {
    return field<Word>(count, kind);
  }
}

template <typename Word>
void expect_decoded(const std::vector<std::byte>& payload, const std::vector<Word>& values,
                    std::uint64_t tuple) {
  const Chunk chunk{kAnsDtypeOf<Word>, Shape::line(values.size())};
  const std::vector<std::byte> exact(payload);
  std::vector<Word> out(values.size(), static_cast<Word>(0x5A));
  const Status status = kAns.decode(exact, chunk, tuple, reinterpret_cast<std::byte*>(out.data()));
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(out, values);
}

// A payload that is not smaller than the values is for frames to store, but a decoder takes it.
template <typename Word>
void expect_decoded(const std::vector<Word>& values, std::uint64_t tuple) {
  expect_decoded(ans_parts(values, tuple).payload(), values, tuple);
}

template <typename Word>
class Ans : public ::testing::Test {};
using Words = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Ans, Words);

template <typename Word>
constexpr std::size_t kWhole = std::min<std::size_t>(8192, 16384 / sizeof(Word));

TYPED_TEST(Ans, IsWhatItsPageSays) {
  for (const std::size_t count :
       {std::size_t{1}, std::size_t{2}, std::size_t{31}, std::size_t{32}, std::size_t{33},
        std::size_t{63}, std::size_t{65}, std::size_t{255}, std::size_t{1000}, kWhole<TypeParam>}) {
    for (const std::uint64_t tuple : {0u, 1u, 2u, 3u, 31u, 32u}) {
      for (int kind = 0; kind <= kFew; ++kind) {
        SCOPED_TRACE(::testing::Message() << count << " values, tuple " << tuple << ", " << kind);
        expect_decoded(values_of<TypeParam>(count, kind), tuple);
      }
    }
  }
}

TYPED_TEST(Ans, EveryByteOfEveryPlaneComesBack) {
  std::vector<TypeParam> values(kWhole<TypeParam>);
  for (std::size_t at = 0; at < values.size(); ++at) {
    // Each of the 256 bytes somewhere, most often 0.
    const std::size_t byte = at % 8 == 0 ? at / 8 % 256 : 0;
    values[at] = static_cast<TypeParam>(byte << 8 * (at % 7 % sizeof(TypeParam)));
  }
  for (const std::uint64_t tuple : {0u, 1u, 5u}) expect_decoded(values, tuple);
}

// The section "Encoding" leaves choices open to others.
TYPED_TEST(Ans, DecodersDoNotDependOnTheChoicesOfEncoders) {
  for (const int kind : {int{kSmooth}, int{kZero}, int{kSparse}, int{kFew}}) {
    const auto values = values_of<TypeParam>(333, kind);
    for (int coded = 0; coded < 1 << sizeof(TypeParam); ++coded) {
      for (const bool dense : {false, true}) {
        SCOPED_TRACE(::testing::Message() << kind << ", coded " << coded << ", dense " << dense);
        expect_decoded(ans_parts(values, 1, {.coded = coded, .dense = dense}).payload(), values, 1);
      }
    }
  }
}

TYPED_TEST(Ans, FillingUpIsNotLookedAt) {
  const auto values = values_of<TypeParam>(1001, kFew);
  AnsParts parts = ans_parts(values, 0, {.coded = 1});
  while (parts.tables.size() % 4 != 0) parts.tables.push_back(0xA5);
  for (AnsPlane& plane : parts.stored) {
    while (plane.size() % 4 != 0) plane.push_back(0xA5);
  }
  expect_decoded(parts.payload(), values, 0);
}

TYPED_TEST(Ans, AConstantChunkTakesNoStates) {
  const std::vector<TypeParam> values(kWhole<TypeParam>, static_cast<TypeParam>(0x41424344));
  const auto payload = ans_parts(values, 0).payload();
  EXPECT_EQ(payload.size(), 8 + (5 * sizeof(TypeParam) + 3) / 4 * 4);
  expect_decoded(values, 0);
}

TEST(AnsCodec, NobodyWritesVersion0) {
  const std::vector<float> values(100);
  std::vector<std::byte> out(1 << 12);
  const auto written = kAns.encode(reinterpret_cast<const std::byte*>(values.data()),
                                   {Dtype::kF32, Shape::line(100)}, 1, out.data());
  EXPECT_EQ(written.status().code(), StatusCode::kInvalidArgument);
}

TEST(AnsCodec, TuplesOutOfRangeAreRefused) {
  for (const char* value : {"33", "-1", "x", "", "1.5", "99999999999999999999"}) {
    const Option option{"tuple", value};
    EXPECT_EQ(kAns.parse({&option, 1}).status().code(), StatusCode::kInvalidArgument) << value;
  }
  const Option unknown{"stride", "2"};
  EXPECT_FALSE(kAns.parse({&unknown, 1}).ok());
  for (std::uint64_t tuple = 0; tuple <= 32; ++tuple) {
    EXPECT_TRUE(kAns.check(tuple, Dtype::kF32, 1).ok()) << tuple;
    EXPECT_TRUE(kAns.check(256 + tuple, Dtype::kF32, 1).ok()) << tuple;
    const std::string word = std::to_string(tuple);
    const Option option{"tuple", word};
    EXPECT_EQ(*kAns.parse({&option, 1}), 256 + tuple);
  }
  EXPECT_EQ(kAns.check(256 + 33, Dtype::kF32, 1).code(), StatusCode::kDamaged);
  EXPECT_EQ(kAns.check(512, Dtype::kF32, 1).code(), StatusCode::kDamaged);
  EXPECT_EQ(kAns.check(33, Dtype::kF32, 1).code(), StatusCode::kDamaged);
  EXPECT_EQ(kAns.check(std::uint64_t{1} << 32, Dtype::kF32, 1).code(), StatusCode::kDamaged);
}

TEST(AnsCodec, ChunksHaveAsManyValuesAsThePageSays) {
  const auto chunk = [](Dtype dtype) { return kAns.chunk_shape(Shape::line(2u << 20), dtype, 0); };
  EXPECT_EQ(chunk(Dtype::kE4m3), Shape::line(8192));
  EXPECT_EQ(chunk(Dtype::kE5m2), Shape::line(8192));
  EXPECT_EQ(chunk(Dtype::kF16), Shape::line(8192));
  EXPECT_EQ(chunk(Dtype::kBf16), Shape::line(8192));
  EXPECT_EQ(chunk(Dtype::kF32), Shape::line(4096));
  EXPECT_EQ(chunk(Dtype::kF64), Shape::line(2048));
  const auto cut = [](Dtype dtype) { return kAns.chunk_shape(Shape::line(2u << 20), dtype, 257); };
  EXPECT_EQ(cut(Dtype::kE5m2), Shape::line(32768));
  EXPECT_EQ(cut(Dtype::kBf16), Shape::line(16384));
  EXPECT_EQ(cut(Dtype::kF32), Shape::line(8192));
  EXPECT_EQ(cut(Dtype::kF64), Shape::line(4096));
}

}  // namespace
}  // namespace thinwire::codec::testing
