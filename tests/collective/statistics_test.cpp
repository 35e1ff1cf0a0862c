// Statistics of arrays' values, against a plain loop.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <random>
#include <vector>

#include "../base/other_float_mode.h"
#include "base/bytes.h"
#include "codec/accumulate.h"
#include "collective/reduce.h"

namespace thinwire::collective {
namespace {

using codec::number_of;
using codec::WordOf;

template <Dtype kDtype>
void check(std::size_t count, bool with_specials) {
  using Word = WordOf<kDtype>;
  std::mt19937_64 random(count);
  std::vector<std::byte> bytes(count * sizeof(Word) + 1);
  Statistics expected{.least = INFINITY, .most = -INFINITY};
  for (std::size_t at = 0; at < count; ++at) {
    auto word = static_cast<Word>(random());
    if (!with_specials && !std::isfinite(number_of<kDtype>(word))) word = 0;
    store(bytes.data() + 1 + at * sizeof(Word), word);
    const double value = number_of<kDtype>(word);
    if (!std::isfinite(value)) {
      expected.all_finite = false;
      continue;
    }
    expected.least = std::min(expected.least, value);
    expected.most = std::max(expected.most, value);
    expected.largest = std::max(expected.largest, std::fabs(value));
  }
  const Statistics found = statistics(kDtype, count, bytes.data() + 1);
  EXPECT_EQ(found.all_finite, expected.all_finite);
  EXPECT_EQ(found.largest, expected.largest);
  if (expected.least > expected.most) {
    EXPECT_GT(found.least, found.most);
    EXPECT_EQ(found.range(), 0);
    return;
  }
  EXPECT_EQ(found.least, expected.least);
  EXPECT_EQ(found.most, expected.most);
  EXPECT_EQ(found.range(), std::min(expected.most - expected.least, DBL_MAX));
}

TEST(Statistics, AreThoseOfAPlainLoop) {
  for (const std::size_t count : {0, 1, 2, 17, 1000, 100003}) {
    for (const bool with_specials : {false, true}) {
      check<Dtype::kF32>(count, with_specials);
      check<Dtype::kF64>(count, with_specials);
      check<Dtype::kF16>(count, with_specials);
      check<Dtype::kBf16>(count, with_specials);
    }
  }
}

Statistics of(const std::vector<double>& values) {
  return statistics(Dtype::kF64, values.size(), reinterpret_cast<const std::byte*>(values.data()));
}

TEST(Statistics, OfExtremes) {
  EXPECT_FALSE(of({NAN, -INFINITY, INFINITY, -NAN}).all_finite);
  EXPECT_EQ(of({NAN, -INFINITY}).largest, 0);
  EXPECT_EQ(of({NAN, -INFINITY}).range(), 0);
  EXPECT_EQ(of({DBL_MAX, -DBL_MAX}).range(), DBL_MAX);
  EXPECT_TRUE(of({DBL_MAX, -DBL_MAX}).all_finite);
  EXPECT_EQ(of({NAN, -3, -2}).largest, 3);
  EXPECT_EQ(of({NAN, -3, -2}).most, -2);
  EXPECT_EQ(of({5e-324}).least, 5e-324);
}

double gap(const std::vector<float>& a, const std::vector<float>& b) {
  return largest_difference(Dtype::kF32, a.size(), reinterpret_cast<const std::byte*>(a.data()),
                            reinterpret_cast<const std::byte*>(b.data()));
}

TEST(Statistics, AreTheSameInEveryFloatingPointMode) {
  const std::vector<float> values{1e-42f, -3e-39f, 1e-40f, 0.1f};
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  for (const std::uint64_t count : {3, 4}) {
    const Statistics expected = statistics(Dtype::kF32, count, bytes);
    const double range = expected.range();
    Statistics found;
    double found_range = 0;
    {
      const OtherFloatMode mode;
      found = statistics(Dtype::kF32, count, bytes);
      found_range = found.range();
    }
    EXPECT_EQ(found.least, expected.least);
    EXPECT_EQ(found.most, expected.most);
    EXPECT_EQ(found_range, range);
  }
}

TEST(LargestDifference, IsExactInFp32) {
  EXPECT_EQ(gap({1, 2, 3}, {1, 2, 3}), 0);
  EXPECT_EQ(gap({1, 2, 3}, {1, 2.25f, 2.5f}), 0.5);
  EXPECT_EQ(gap({1.0f}, {std::nextafter(1.0f, 2.0f)}), FLT_EPSILON);
  EXPECT_EQ(gap({FLT_MAX}, {-FLT_MAX}), 2 * static_cast<double>(FLT_MAX));
  EXPECT_EQ(gap({0.0f}, {-0.0f}), 0);
}

TEST(LargestDifference, OfWhatIsNotFinite) {
  EXPECT_EQ(gap({NAN, INFINITY, -INFINITY}, {-NAN, INFINITY, -INFINITY}), 0);
  EXPECT_EQ(gap({NAN, 1}, {1, 1}), INFINITY);
  EXPECT_EQ(gap({1, 1}, {1, NAN}), INFINITY);
  EXPECT_EQ(gap({INFINITY}, {-INFINITY}), INFINITY);
  EXPECT_EQ(gap({INFINITY}, {FLT_MAX}), INFINITY);
  EXPECT_EQ(gap({}, {}), 0);
}

}  // namespace
}  // namespace thinwire::collective
