// Integers in the bits of floats: lossy codecs decline them in fp64, and say what they met in fp32.
#include <gtest/gtest.h>

#include <limits>

#include "arrays.h"
#include "codec/integers.h"
#include "message/integers.h"

namespace thinwire::message {
namespace {

constexpr std::int64_t kEnd = std::int64_t{1} << 40;

// Every lossy codec of the registry that codes host memory.
template <typename Body>
void for_each_lossy(Dtype dtype, Body&& body) {
  int met = 0;
  for_each_coder([&](const Coder& coder, Dtype its) {
    if (coder.codec->lossless || its != dtype) return;
    ++met;
    body(coder);
  });
  EXPECT_GE(met, 2);
}

std::vector<std::byte> with_integer(std::uint64_t count, std::uint64_t at, std::int64_t integer) {
  auto data = smooth(Dtype::kF64, count);
  store(data.data() + 8 * at, integer);
  return data;
}

StatusCode outcome_of(const Coder& coder, const codec::Chunk& array,
                      const std::vector<std::byte>& data, EncodeOptions options = {}) {
  options.decline = true;
  std::vector<std::byte> frame(*bound(coder, array));
  return encode(coder, array, data.data(), frame, options).status().code();
}

TEST(Integers, AreThoseBelowTheEndInMagnitudeAndNotZero) {
  const auto reads = [](std::int64_t integer) {
    return codec::reads_as_integer(static_cast<std::uint64_t>(integer));
  };
  for (const std::int64_t integer : {std::int64_t{1}, std::int64_t{7}, kEnd - 1}) {
    EXPECT_TRUE(reads(integer)) << integer;
    EXPECT_TRUE(reads(-integer)) << -integer;
  }
  for (const std::int64_t integer : {std::int64_t{0}, kEnd, -kEnd, INT64_MAX, INT64_MIN}) {
    EXPECT_FALSE(reads(integer)) << integer;
  }
  for (const double number :
       {0.0, -0.0, 1.0, -1.0, 1e-300, -1e300, std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(codec::reads_as_integer(std::bit_cast<std::uint64_t>(number))) << number;
  }
  EXPECT_TRUE(codec::reads_as_integer(std::uint32_t{0x7FFFFF}));
  EXPECT_FALSE(codec::reads_as_integer(std::uint32_t{0x800000}));
  EXPECT_TRUE(codec::reads_as_integer(static_cast<std::uint32_t>(-1)));
}

TEST(Integers, AreFoundWhereverTheyLie) {
  for (const std::uint64_t count : kLengths) {
    for (std::uint64_t at = 0; at < count; at += count / 7 + 1) {
      const auto data = with_integer(count, at, 5);
      std::vector<std::byte> shifted(data.size() + 1);
      std::copy(data.begin(), data.end(), shifted.begin() + 1);
      EXPECT_TRUE(codec::holds_integers(shifted.data() + 1, Dtype::kF64, count)) << at;
    }
    const auto none = smooth(Dtype::kF64, count);
    EXPECT_FALSE(codec::holds_integers(none.data(), Dtype::kF64, count)) << count;
  }
}

TEST(Integers, MakeALossyCodecDeclineDoubles) {
  const auto array = line(Dtype::kF64, 40001);
  for_each_lossy(Dtype::kF64, [&](const Coder& coder) {
    EXPECT_EQ(outcome_of(coder, array, smooth(Dtype::kF64, 40001)), StatusCode::kOk);
    for (const std::int64_t integer : {std::int64_t{1}, kEnd - 1, std::int64_t{-1}, 1 - kEnd}) {
      for (const std::uint64_t at : {0, 4096, 39999, 40000}) {
        const auto data = with_integer(40001, at, integer);
        EXPECT_EQ(outcome_of(coder, array, data), StatusCode::kHoldsIntegers) << integer;
      }
    }
    EXPECT_EQ(outcome_of(coder, array, with_integer(40001, 17, kEnd)), StatusCode::kOk);
  });
}

TEST(Integers, ArriveAsTheyAreInARawFrame) {
  const auto array = line(Dtype::kF64, 40001);
  const auto data = with_integer(40001, 12345, 12345);
  for_each_lossy(Dtype::kF64, [&](const Coder& coder) {
    const auto before = integer_counts();
    const auto frame = encoded(coder, array, data);
    EXPECT_EQ(integer_counts().declined, before.declined + 1);
    std::vector<std::byte> out(data.size());
    const auto info = decode(frame, out, frame::file_mark());
    ASSERT_TRUE(info.ok()) << info.status().message();
    EXPECT_EQ(info->codec, &codec::raw_codec());
    EXPECT_EQ(out, data);
  });
}

TEST(Integers, AreFoundInABox) {
  const codec::Chunk volume{Dtype::kF64, {.rank = 3, .extent = {20, 33, 40}}};
  for_each_lossy(Dtype::kF64, [&](const Coder& coder) {
    if (coder.codec->max_rank < 3) return;
    for (const std::uint64_t at : {0, 1319, 13333, 26399}) {
      EXPECT_EQ(outcome_of(coder, volume, with_integer(26400, at, 3)), StatusCode::kHoldsIntegers);
    }
  });
}

TEST(Integers, AreCodedWhereTheCallerSaysSo) {
  const auto array = line(Dtype::kF64, 40001);
  EncodeOptions options;
  options.declines_integers = false;
  for_each_lossy(Dtype::kF64, [&](const Coder& coder) {
    EXPECT_EQ(outcome_of(coder, array, with_integer(40001, 9, 9), options), StatusCode::kOk);
  });
}

TEST(Integers, AreCodedByLosslessCodecs) {
  const auto array = line(Dtype::kF64, 40001);
  for_each_coder([&](const Coder& coder, Dtype dtype) {
    if (dtype != Dtype::kF64 || !coder.codec->lossless || coder.codec == &codec::raw_codec())
      return;
    std::vector<std::byte> data(array.raw_bytes());
    for (std::int64_t at = 0; at < 40001; ++at) store(data.data() + 8 * at, at);
    EXPECT_NE(outcome_of(coder, array, data), StatusCode::kHoldsIntegers);
  });
}

// Fields that fade out have numbers such as these: 7% of a seismic wave field, say.
TEST(Integers, InFloatsAreCountedAndCoded) {
  const auto array = line(Dtype::kF32, 40001);
  auto data = smooth(Dtype::kF32, 40001);
  for (std::uint32_t at = 0; at < 40001; at += 14) store(data.data() + 4 * at, at + 1);
  for_each_lossy(Dtype::kF32, [&](const Coder& coder) {
    const auto before = integer_counts();
    EXPECT_EQ(outcome_of(coder, array, data), StatusCode::kOk);
    EXPECT_EQ(integer_counts().coded, before.coded + 1);
    EXPECT_EQ(outcome_of(coder, array, smooth(Dtype::kF32, 40001)), StatusCode::kOk);
    EXPECT_EQ(integer_counts().coded, before.coded + 1);
    EXPECT_EQ(integer_counts().declined, before.declined);
  });
}

}  // namespace
}  // namespace thinwire::message
