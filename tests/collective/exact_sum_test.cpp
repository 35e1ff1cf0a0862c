// Exact sums against expansions of doubles (nearest.h): whatever the values, their order and
// their number, and on both paths.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/bytes.h"
#include "collective/exact.h"
#include "collective/nearest.h"
#include "collective/slots/sum.h"

namespace thinwire::collective {
namespace {

template <Dtype kDtype>
using Words = std::vector<WordOf<kDtype>>;

// Arrays that lie one after the other, at any address.
template <Dtype kDtype>
struct Arrays {
  std::vector<std::byte> bytes;
  Operands operands;

  Arrays(const std::vector<Words<kDtype>>& ranks, std::uint64_t offset = 0) {
    const std::uint64_t stride = ranks.front().size() * sizeof(WordOf<kDtype>);
    bytes.resize(offset + stride * ranks.size());
    std::byte* to = bytes.data() + offset;
    for (const auto& words : ranks) {
      for (const auto word : words) {
        store(to, word);
        to += sizeof word;
      }
    }
    operands = {.first = bytes.data() + offset,
                .stride = stride,
                .count = static_cast<int>(ranks.size()),
                .is_exact = true};
  }
};

// Sums of element after element.
template <Dtype kDtype>
Words<kDtype> sums_of(const std::vector<Words<kDtype>>& ranks, std::uint32_t divisor = 1,
                      std::uint64_t offset = 0) {
  Arrays<kDtype> arrays(ranks, offset);
  arrays.operands.divisor = divisor;
  Words<kDtype> sums(ranks.front().size());
  sum_exactly(kDtype, sums.size(), arrays.operands, reinterpret_cast<std::byte*>(sums.data()));
  return sums;
}

template <Dtype kDtype>
WordOf<kDtype> sum_of(const Words<kDtype>& values, std::uint32_t divisor = 1) {
  std::vector<Words<kDtype>> ranks;
  for (const auto value : values) ranks.push_back({value});
  return sums_of<kDtype>(ranks, divisor).front();
}

// The path that is taken if doubles lose something.
template <Dtype kDtype>
WordOf<kDtype> total_of(const Words<kDtype>& values, std::uint32_t divisor = 1) {
  ExactTotal<kDtype> total;
  for (const auto value : values) total.add(number_of<kDtype>(value));
  return total.rounded(divisor);
}

template <Dtype kDtype>
WordOf<kDtype> word(double value) {
  return word_of<kDtype>(static_cast<NumberOf<kDtype>>(value));
}

template <Dtype kDtype>
bool is_nearest(const Words<kDtype>& values, WordOf<kDtype> found, std::uint32_t divisor = 1) {
  std::vector<double> numbers;
  for (const auto value : values) numbers.push_back(number_of<kDtype>(value));
  return is_nearest_sum<kDtype>(numbers, found, divisor);
}

// Values of both signs over so many binary orders, some of them 0, some that cancel others.
template <Dtype kDtype>
Words<kDtype> draw(std::mt19937_64& random, int count, int orders) {
  using Format = FloatFormat<kDtype>;
  Words<kDtype> values;
  const auto exponents = static_cast<std::uint64_t>(Format::kInfinity >> (Format::kMantissa - 1));
  // Expansions of doubles must not overflow.
  constexpr std::uint64_t kLeft = kDtype == Dtype::kF64 ? 20 : 3;
  const std::uint64_t least = random() % (exponents - kLeft);
  while (values.size() < static_cast<std::size_t>(count)) {
    const std::uint64_t bits = random();
    const std::uint64_t exponent =
        std::min(least + random() % static_cast<std::uint64_t>(orders), exponents - kLeft);
    const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << (Format::kMantissa - 1)) - 1)) &
                                   (random() % 4 == 0 ? ~std::uint64_t{0} << 5 : ~std::uint64_t{0});
    std::uint64_t word = exponent << (Format::kMantissa - 1) | mantissa;
    if (random() % 2 == 0) word |= Format::kSign;
    if (random() % 16 == 0) word &= Format::kSign;
    if (random() % 4 == 0 && !values.empty())
      word = values[random() % values.size()] ^ Format::kSign;
    values.push_back(static_cast<WordOf<kDtype>>(word));
  }
  return values;
}

template <typename Constant>
class ExactSums : public testing::Test {
 protected:
  static constexpr Dtype kDtype = Constant::value;
};
using Dtypes = testing::Types<DtypeConstant<Dtype::kF32>, DtypeConstant<Dtype::kF64>,
                              DtypeConstant<Dtype::kF16>, DtypeConstant<Dtype::kBf16>>;
TYPED_TEST_SUITE(ExactSums, Dtypes, );

TYPED_TEST(ExactSums, AreNearestWhateverTheOrder) {
  constexpr Dtype kDtype = TestFixture::kDtype;
  std::mt19937_64 random(17);
  for (int round = 0; round < 20'000; ++round) {
    const int orders = std::vector<int>{1, 3, 12, 60, 200, 2000}[random() % 6];
    Words<kDtype> values = draw<kDtype>(random, 1 + static_cast<int>(random() % 9), orders);
    const std::uint32_t divisor =
        std::vector<std::uint32_t>{1, 1, 1, 2, 3, 5, 8, 100}[random() % 8];
    const auto found = sum_of<kDtype>(values, divisor);
    ASSERT_TRUE(is_nearest<kDtype>(values, found, divisor))
        << round << ": " << values.size() << " values by " << divisor << " are " << found;
    ASSERT_EQ(total_of<kDtype>(values, divisor), found) << round;
    std::shuffle(values.begin(), values.end(), random);
    ASSERT_EQ(sum_of<kDtype>(values, divisor), found) << round;
  }
}

// Whole arrays, whose elements take different paths; at any address, and over one of them.
TYPED_TEST(ExactSums, OfArraysAreThoseOfTheirElements) {
  constexpr Dtype kDtype = TestFixture::kDtype;
  using Word = WordOf<kDtype>;
  std::mt19937_64 random(4);
  constexpr std::size_t kCount = 1300;
  for (const int ranks : {1, 2, 3, 8}) {
    std::vector<Words<kDtype>> all(static_cast<std::size_t>(ranks), Words<kDtype>(kCount));
    Words<kDtype> wanted;
    for (std::size_t at = 0; at < kCount; ++at) {
      const auto values = draw<kDtype>(random, ranks, at % 7 == 0 ? 200 : 4);
      for (std::size_t rank = 0; rank < all.size(); ++rank) all[rank][at] = values[rank];
      wanted.push_back(total_of<kDtype>(values, 3));
    }
    for (const std::uint64_t offset : {0, 1, 4}) {
      EXPECT_EQ((sums_of<kDtype>(all, 3, offset)), wanted);
    }
    Arrays<kDtype> arrays(all);
    arrays.operands.divisor = 3;
    const std::size_t last = arrays.bytes.size() - kCount * sizeof(Word);
    sum_exactly(kDtype, kCount, arrays.operands, arrays.bytes.data() + last);
    EXPECT_EQ(std::memcmp(arrays.bytes.data() + last, wanted.data(), kCount * sizeof(Word)), 0);
  }
}

// A total spread over any number of ranks, by parts that cancel.
TYPED_TEST(ExactSums, AreThoseOfTheTotal) {
  constexpr Dtype kDtype = TestFixture::kDtype;
  std::mt19937_64 random(9);
  for (int round = 0; round < 2000; ++round) {
    Words<kDtype> values = draw<kDtype>(random, 2, 60);
    const auto found = sum_of<kDtype>(values);
    for (const std::size_t ranks : {3, 5, 8, 40}) {
      Words<kDtype> more = values;
      while (more.size() + 1 < ranks) {
        const auto part = draw<kDtype>(random, 1, 60).front();
        more.push_back(part);
        more.push_back(static_cast<WordOf<kDtype>>(part ^ FloatFormat<kDtype>::kSign));
      }
      if (more.size() < ranks) more.push_back(word<kDtype>(0));
      std::shuffle(more.begin(), more.end(), random);
      // Nothing but -0 is another total than +0.
      if ((found & ~FloatFormat<kDtype>::kSign) == 0) continue;
      ASSERT_EQ(sum_of<kDtype>(more), found) << round << " over " << ranks;
    }
  }
}

TYPED_TEST(ExactSums, HaveTheZerosInfinitiesAndNansThatAreSaid) {
  constexpr Dtype kDtype = TestFixture::kDtype;
  using Word = WordOf<kDtype>;
  using Format = FloatFormat<kDtype>;
  const Word zero = 0, minus_zero = static_cast<Word>(Format::kSign);
  const Word infinity = static_cast<Word>(Format::kInfinity);
  const Word minus_infinity = static_cast<Word>(Format::kSign | Format::kInfinity);
  const Word nan = nan_word<kDtype>(), other_nan = static_cast<Word>(~Word{0});
  const Word one = word<kDtype>(1), minus_one = word<kDtype>(-1);
  const Word least = 1, largest = static_cast<Word>(Format::kInfinity - 1);
  const Word minus_largest = static_cast<Word>(largest | Format::kSign);
  const auto expect = [](const Words<kDtype>& values, Word wanted) {
    Words<kDtype> turned(values.rbegin(), values.rend());
    for (const auto& each : {values, turned}) {
      for (const std::uint32_t divisor : {1U, static_cast<std::uint32_t>(values.size())}) {
        if (divisor > 1 && (wanted & ~Format::kSign) > 0 && wanted < nan_word<kDtype>() &&
            (wanted & ~Format::kSign) < Format::kInfinity)
          continue;
        EXPECT_EQ(sum_of<kDtype>(each, divisor), wanted) << divisor;
        EXPECT_EQ(total_of<kDtype>(each, divisor), wanted) << divisor;
      }
    }
  };
  expect({minus_zero}, minus_zero);
  expect({minus_zero, minus_zero, minus_zero}, minus_zero);
  expect({zero, minus_zero, minus_zero}, zero);
  expect({one, minus_one, minus_zero}, zero);
  expect({least, static_cast<Word>(least | Format::kSign), minus_zero}, zero);
  expect({infinity, one, minus_largest}, infinity);
  expect({minus_infinity, minus_infinity}, minus_infinity);
  expect({infinity, minus_infinity}, nan);
  expect({infinity, one, minus_infinity, one}, nan);
  expect({one, other_nan}, nan);
  expect({other_nan}, nan);
  expect({other_nan, infinity, minus_infinity}, nan);
  expect({largest, largest, minus_largest}, largest);
  EXPECT_EQ(sum_of<kDtype>({largest, largest}), infinity);
  EXPECT_EQ(sum_of<kDtype>({minus_largest, minus_largest, one}), minus_infinity);
  EXPECT_EQ((sum_of<kDtype>({largest, largest}, 2)), largest);
  EXPECT_EQ((sum_of<kDtype>({largest, largest, largest}, 3)), largest);
  // Half the gap above the largest value is rounded up, a bit less is not.
  const Word half =
      word<kDtype>(std::ldexp(1, std::ilogb(magnitude_of<kDtype>(largest)) - Format::kMantissa));
  EXPECT_EQ(sum_of<kDtype>({largest, half}), infinity);
  EXPECT_EQ(sum_of<kDtype>({largest, half, static_cast<Word>(least | Format::kSign)}), largest);
  EXPECT_EQ(sum_of<kDtype>({half, static_cast<Word>(least | Format::kSign), largest}), largest);
}

TEST(ExactSums, RoundATieByABitThatIsFarBelow) {
  const auto f64 = [](double value) { return bits_of(value); };
  constexpr auto kF64 = Dtype::kF64;
  EXPECT_EQ(sum_of<kF64>({f64(1), f64(0x1p-53)}), f64(1));
  EXPECT_EQ(sum_of<kF64>({f64(1), f64(0x1p-53), f64(0x1p-1074)}), f64(1 + 0x1p-52));
  EXPECT_EQ(sum_of<kF64>({f64(0x1p-1074), f64(1), f64(0x1p-53)}), f64(1 + 0x1p-52));
  EXPECT_EQ(sum_of<kF64>({f64(1), f64(0x1p-53), f64(-0x1p-1074)}), f64(1));
  EXPECT_EQ(sum_of<kF64>({f64(1e300), f64(1), f64(-1e300)}), f64(1));
  const auto f32 = [](float value) { return bits_of(value); };
  constexpr auto kF32 = Dtype::kF32;
  EXPECT_EQ(sum_of<kF32>({f32(1), f32(0x1p-24f), f32(0x1p-149f)}), f32(1 + 0x1p-23f));
  EXPECT_EQ(sum_of<kF32>({f32(1e30f), f32(1), f32(-1e30f)}), f32(1));
  // Rounded to fp32 first, this would be a tie of bf16.
  constexpr auto kBf16 = Dtype::kBf16;
  const auto bf16 = [](float value) { return bf16_of(value); };
  EXPECT_EQ(sum_of<kBf16>({bf16(1), bf16(0x1p-8f), bf16(0x1p-30f)}), bf16(1 + 0x1p-7f));
  EXPECT_EQ(sum_of<kBf16>({bf16(1), bf16(0x1p-8f), bf16(0x1p-100f)}), bf16(1 + 0x1p-7f));
}

// Values by factors are rounded as ordered sums have them, then added.
TEST(ExactSums, AddProductsThatAreRounded) {
  const std::vector<Words<Dtype::kF32>> ranks = {{bits_of(1.0f)}, {bits_of(3.0f)}};
  Arrays<Dtype::kF32> arrays(ranks);
  arrays.operands.scale = 0.1;
  std::uint32_t found = 0;
  sum_exactly(Dtype::kF32, 1, arrays.operands, reinterpret_cast<std::byte*>(&found));
  const double wanted = static_cast<double>(0.1f) + static_cast<double>(3.0f * 0.1f);
  EXPECT_EQ(found, bits_of(static_cast<float>(wanted)));
}

// 2^31 values: more than a digit holds of carries at once, if there were fewer bits.
TEST(ExactTotal, HoldsSumsOfManyOfTheLargest) {
  ExactTotal<Dtype::kF32> total;
  const float largest = std::numeric_limits<float>::max();
  for (int at = 0; at < 1'000'000; ++at) total.add(largest);
  for (int at = 0; at < 999'999; ++at) total.add(-largest);
  EXPECT_EQ(total.rounded(), bits_of(largest));
}

}  // namespace
}  // namespace thinwire::collective
