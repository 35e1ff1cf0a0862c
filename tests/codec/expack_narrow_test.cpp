// 8-bit floats by the expack codec: every value comes back, what was scaled to a type's range gets
// smaller, and damaged payloads are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "codec/expack/core.h"
#include "codec/registry.h"
#include "codec/words.h"

namespace thinwire::codec {
namespace {

constexpr Dtype kNarrow[] = {Dtype::kE4m3, Dtype::kE5m2};
constexpr std::size_t kMostValues = 8192;  // of a chunk

using Words = std::vector<std::byte>;

double largest_of(Dtype dtype) { return dtype == Dtype::kE4m3 ? 448 : 57344; }

// The bits of a finite number, rounded to the nearest value of the type.
std::byte word_of(Dtype dtype, double number) {
  const int mantissa_bits = dtype == Dtype::kE4m3 ? 3 : 2;
  const int bias = dtype == Dtype::kE4m3 ? 7 : 15;
  const double magnitude = std::fabs(number);
  const int least = 1 - bias;
  const int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
  const auto steps =
      static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent)));
  // A value that rounds up to the next power of two, or is below the least normal one, comes out
  // right.
  const unsigned word = steps + (static_cast<unsigned>(exponent - least) << mantissa_bits);
  return static_cast<std::byte>(word | (number < 0 ? 0x80u : 0u));
}

// Normally distributed, scaled so that the largest becomes the type's; one in `kept` is not zero.
Words scaled(Dtype dtype, std::size_t count, unsigned kept = 1) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::normal_distribution<double> normal;
  std::vector<double> numbers(count);
  double largest = 1e-9;
  for (double& number : numbers) {
    number = random() % kept == 0 ? normal(random) : 0;
    largest = std::max(largest, std::fabs(number));
  }
  Words words(count);
  for (std::size_t at = 0; at < count; ++at) {
    words[at] = word_of(dtype, numbers[at] / largest * largest_of(dtype));
  }
  return words;
}

// The payload, or nothing if it is not smaller than the values.
Words expect_round_trip(Dtype dtype, const Words& values, std::uint64_t mode = 0) {
  const Chunk chunk{dtype, Shape::line(values.size())};
  const Words payload = testing::encoded(kExpack, values.data(), chunk, mode);
  if (payload.size() >= values.size()) return {};
  Words out(values.size(), std::byte{0x5A});
  const Status status = kExpack.decode(payload, chunk, mode, out.data());
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out, values);
  return payload;
}

double ratio(const Words& values, const Words& payload) {
  return static_cast<double>(values.size()) / static_cast<double>(payload.size());
}

TEST(ExpackNarrow, ChunksHaveAsManyValuesAsThoseOf16Bits) {
  for (const Dtype dtype : kNarrow) {
    EXPECT_EQ(kExpack.chunk_shape(Shape::line(2u << 20), dtype, 0), Shape::line(8192));
    EXPECT_EQ(kExpack.chunk_shape(Shape::line((2u << 20) - 1), dtype, 0), Shape::line(2048));
  }
}

TEST(ExpackNarrow, EveryLengthComesBack) {
  for (const Dtype dtype : kNarrow) {
    for (const std::size_t count : {1, 2, 7, 8, 9, 255, 256, 257, 1024, 3001, 8191, 8192}) {
      for (std::uint64_t mode = 0; mode < expack::kModes; ++mode) {
        for (const unsigned kept : {1u, 2u, 9u, 100000u}) {
          SCOPED_TRACE(::testing::Message()
                       << dtype_name(dtype) << " " << count << " " << mode << " " << kept);
          const Words payload = expect_round_trip(dtype, scaled(dtype, count, kept), mode);
          EXPECT_FALSE(payload.empty() && count >= 1024);
        }
      }
    }
  }
}

TEST(ExpackNarrow, EveryWordComesBack) {
  for (const Dtype dtype : kNarrow) {
    for (unsigned word = 0; word < 256; ++word) {
      SCOPED_TRACE(::testing::Message() << dtype_name(dtype) << " " << word);
      // Rarely among usual ones, and alone.
      Words values = scaled(dtype, 2048);
      for (std::size_t at = word; at < values.size(); at += 300) {
        values[at] = static_cast<std::byte>(word);
      }
      EXPECT_FALSE(expect_round_trip(dtype, values).empty());
      EXPECT_FALSE(expect_round_trip(dtype, Words(512, static_cast<std::byte>(word))).empty());
    }
  }
}

TEST(ExpackNarrow, NoiseIsLeftAsItIs) {
  std::mt19937 random(1);
  for (const Dtype dtype : kNarrow) {
    Words values(kMostValues);
    for (std::byte& value : values) value = static_cast<std::byte>(random());
    for (std::uint64_t mode = 0; mode < expack::kModes; ++mode) {
      EXPECT_TRUE(expect_round_trip(dtype, values, mode).empty());
    }
  }
}

TEST(ExpackNarrow, ScaledValuesGetSmaller) {
  const Words four = scaled(Dtype::kE4m3, kMostValues), five = scaled(Dtype::kE5m2, kMostValues);
  EXPECT_GT(ratio(four, expect_round_trip(Dtype::kE4m3, four)), 1.1);
  EXPECT_GT(ratio(five, expect_round_trip(Dtype::kE5m2, five)), 1.3);
  for (const Dtype dtype : kNarrow) {
    const Words sparse = scaled(dtype, kMostValues, 10);
    EXPECT_GT(ratio(sparse, expect_round_trip(dtype, sparse)), 4);
    EXPECT_EQ(expect_round_trip(dtype, Words(kMostValues)).size(), 16u);
  }
}

TEST(ExpackNarrow, MasksBeginWhereTheyPay) {
  for (const Dtype dtype : kNarrow) {
    const std::size_t least = dtype == Dtype::kE4m3 ? 256 : 342;  // of 1024
    for (const std::size_t zeros : {least - 1, least}) {
      Words values(1024, std::byte{0x35});
      for (std::size_t at = 0; at < zeros; ++at) values[at * 7 % 1024] = std::byte{0};
      const Words payload = expect_round_trip(dtype, values);
      ASSERT_FALSE(payload.empty());
      const bool has_mask = (load<std::uint32_t>(payload.data()) & expack::kHeadFlag) != 0;
      EXPECT_EQ(has_mask, zeros == least);
    }
  }
}

// A reader outside of the payload would be found by the sanitizers.
TEST(ExpackNarrow, DamageIsSafe) {
  for (const Dtype dtype : kNarrow) {
    for (const Words& values : {scaled(dtype, 1270), scaled(dtype, 1270, 3),
                                Words(1270, std::byte{0x41}), Words(1270, std::byte{0x84})}) {
      const Chunk chunk{dtype, Shape::line(values.size())};
      const Words payload = expect_round_trip(dtype, values);
      ASSERT_FALSE(payload.empty());
      Words out(values.size());
      for (std::size_t length = 0; length < payload.size(); ++length) {
        const Words shorter(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(length));
        EXPECT_EQ(kExpack.decode(shorter, chunk, 0, out.data()).code(), StatusCode::kDamaged);
      }
      for (std::size_t at = 0; at < payload.size(); ++at) {
        for (const unsigned change : {1u, 0x80u, 0xFFu}) {
          Words changed(payload);
          changed[at] ^= static_cast<std::byte>(change);
          const StatusCode code = kExpack.decode(changed, chunk, 0, out.data()).code();
          EXPECT_TRUE(code == StatusCode::kOk || code == StatusCode::kDamaged);
          if (at < expack::kHeadBytes && change == 0xFF) {
            EXPECT_EQ(code, StatusCode::kDamaged) << at;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace thinwire::codec
