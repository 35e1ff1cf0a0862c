// Fill values and the like: codecs whose error follows the largest values leave such arrays raw.
#include "message/fill_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "arrays.h"
#include "codec/spec.h"

namespace thinwire::message {
namespace {

constexpr std::uint64_t kCount = 100'000;

template <typename T>
std::vector<T> field() {
  std::vector<T> values(kCount);
  for (std::uint64_t at = 0; at < kCount; ++at)
    values[at] = static_cast<T>(280 + 20 * std::sin(static_cast<double>(at) * 1e-3));
  return values;
}

// As an ocean has land: patches of 500 cells, a tenth of them.
template <typename T>
std::vector<T> with_fill(T fill, T other) {
  auto values = field<T>();
  for (std::uint64_t at = 0; at < kCount; ++at)
    if (at / 500 % 10 == 3) values[at] = at % 2 == 0 ? fill : other;
  return values;
}

template <typename T>
constexpr Dtype kDtype = sizeof(T) == 4 ? Dtype::kF32 : Dtype::kF64;

template <typename T>
StatusCode outcome_of(const char* text, const std::vector<T>& values, bool declines = true) {
  const auto spec = codec::parse_spec(text);
  EXPECT_TRUE(spec.ok()) << text;
  const Coder coder{spec->codec, spec->parameter};
  const auto array = line(kDtype<T>, values.size());
  EncodeOptions options;
  options.decline = true;
  options.declines_fill_values = declines;
  std::vector<std::byte> frame(*bound(coder, array));
  const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
  return encode(coder, array, bytes, frame, options).status().code();
}

// blockq takes no fp64.
template <typename T>
std::vector<const char*> without_bound() {
  if (sizeof(T) == 8) return {"szp:rel=1e-3", "zfp:rate=16"};
  return {"szp:rel=1e-3", "zfp:rate=16", "blockq"};
}

template <typename T>
class FillValues : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FillValues, Floats);

TYPED_TEST(FillValues, LeaveArraysRaw) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const T fill : {T(9.96921e36), T(1e20), T(-1e30), T(1e15)}) {
    for (const char* spec : without_bound<T>()) {
      EXPECT_EQ(outcome_of(spec, with_fill<T>(fill, fill)), StatusCode::kDeclined) << spec << fill;
      EXPECT_EQ(outcome_of(spec, with_fill<T>(fill, T(1e34))), StatusCode::kDeclined) << spec;
      EXPECT_EQ(outcome_of(spec, with_fill<T>(fill, fill), false), StatusCode::kOk) << spec << fill;
    }
    EXPECT_EQ(outcome_of("szp:abs=1e-2", with_fill<T>(fill, fill)), StatusCode::kOk) << fill;
    EXPECT_EQ(outcome_of("szp:rel=1e-3", with_fill<T>(fill, nan)), StatusCode::kDeclined) << fill;
    EXPECT_EQ(outcome_of("mpc", with_fill<T>(fill, fill)), StatusCode::kOk) << fill;
  }
}

TYPED_TEST(FillValues, AreNoneOfOrdinaryArrays) {
  using T = TypeParam;
  auto values = field<T>();
  const auto are_fit = [&](const char* what) {
    for (const char* spec : without_bound<T>())
      EXPECT_EQ(outcome_of(spec, values), StatusCode::kOk) << spec << what;
  };
  are_fit("field");
  // A wave that fades out over thirty orders of magnitude.
  for (std::uint64_t at = 0; at < kCount; ++at)
    values[at] = static_cast<T>(std::exp(-static_cast<double>(at) * 7e-4) * std::sin(at * 1e-2));
  are_fit("wave");
  for (std::uint64_t at = 0; at < kCount; ++at) values[at] = static_cast<T>(at % 3 == 0 ? 1e20 : 0);
  are_fit("one value and zeros");
  for (std::uint64_t at = 0; at < kCount; ++at)
    values[at] = static_cast<T>(1e26 * (1 + 0.5 * std::sin(static_cast<double>(at) * 1e-3)));
  are_fit("large values");
  values = field<T>();
  for (std::uint64_t at = 0; at < kCount; at += 50) values[at] = static_cast<T>(-9999);
  are_fit("a fill value near the others");
}

// As a map has a continent: whichever the length of a row, and wherever it lies.
TYPED_TEST(FillValues, AreFoundInTheSameColumnsOfAllRows) {
  using T = TypeParam;
  for (const std::uint64_t row : {180, 188, 194, 256, 360, 720, 752, 776, 1024, 1440}) {
    for (std::uint64_t first = 0; first < row; first += row / 6) {
      auto values = field<T>();
      for (std::uint64_t at = 0; at < kCount; ++at) {
        if ((at + row - first) % row < row / 3) values[at] = T(1e36);
      }
      EXPECT_EQ(outcome_of("szp:rel=1e-3", values), StatusCode::kDeclined) << row << " " << first;
    }
  }
}

TYPED_TEST(FillValues, OtherByteOrdersAreFound) {
  auto values = field<TypeParam>();
  for (auto& value : values) {
    auto bytes = std::bit_cast<std::array<std::byte, sizeof value>>(value);
    std::reverse(bytes.begin(), bytes.end());
    value = std::bit_cast<TypeParam>(bytes);
  }
  EXPECT_EQ(outcome_of("szp:rel=1e-3", values), StatusCode::kDeclined);
  if (sizeof(TypeParam) == 4) {
    EXPECT_EQ(outcome_of("blockq", values), StatusCode::kDeclined);
  }
}

TYPED_TEST(FillValues, NothingBecomesInfinite) {
  std::vector<TypeParam> values(kCount);
  for (std::uint64_t at = 0; at < kCount; ++at)
    values[at] = at % 2 == 0 ? std::numeric_limits<TypeParam>::max()
                             : std::numeric_limits<TypeParam>::lowest();
  EXPECT_EQ(outcome_of("zfp:rate=8", values), StatusCode::kDeclined);
}

TEST(FillSample, SamplesLieInTheArray) {
  for (const std::uint64_t count : {1, 63, 2048, 2049, 2112, 5000, 100'000, 10'000'019}) {
    const auto array = line(Dtype::kF32, static_cast<std::uint64_t>(count));
    const Sample sample = fill_sample(array);
    for (std::uint32_t run = 0; run < sample.places.count; ++run)
      EXPECT_LE(sample.places.offset[run] + sample.places.row_bytes, array.raw_bytes()) << count;
    EXPECT_LE(sample.array.raw_bytes(), array.raw_bytes());
  }
}

}  // namespace
}  // namespace thinwire::message
