// The cast codec: rounding against the processor's, what it declines, and its options.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "codec/cast/core.h"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using Bytes = std::vector<std::byte>;
using namespace cast;

std::uint64_t parameter_of(std::vector<Option> options) {
  const auto parameter = kCast.parse(options);
  EXPECT_TRUE(parameter.ok()) << parameter.status().message();
  return parameter.ok() ? *parameter : 0;
}

template <typename Value>
constexpr Dtype kDtypeOf = sizeof(Value) == 8 ? Dtype::kF64 : Dtype::kF32;

template <typename Value>
Result<Bytes> encoded(const std::vector<Value>& values, std::uint64_t parameter,
                      std::uint64_t index = 0) {
  const Chunk chunk{kDtypeOf<Value>, Shape::line(values.size()), index};
  Bytes out(kCast.bound(chunk, parameter) + 8, std::byte{0xC5});
  const auto* const source = reinterpret_cast<const std::byte*>(values.data());
  const auto written = kCast.encode(source, chunk, parameter, out.data());
  if (!written.ok()) return written.status();
  EXPECT_EQ(*written, out.size() - 8);
  for (std::size_t at = *written; at < out.size(); ++at) EXPECT_EQ(out[at], std::byte{0xC5});
  out.resize(*written);
  return out;
}

template <typename Value>
std::vector<Value> round_trip(const std::vector<Value>& values, std::uint64_t parameter,
                              std::uint64_t index = 0) {
  const Chunk chunk{kDtypeOf<Value>, Shape::line(values.size()), index};
  const auto stream = encoded(values, parameter, index);
  EXPECT_TRUE(stream.ok()) << stream.status().message();
  std::vector<Value> out(values.size());
  const Status status =
      kCast.decode(*stream, chunk, parameter, reinterpret_cast<std::byte*>(out.data()));
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

template <typename Value>
std::vector<Value> any_values(std::size_t count, int least, int most) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> mantissa(-2, 2);
  std::uniform_int_distribution<int> exponent(least, most);
  std::vector<Value> values(count);
  for (Value& value : values) {
    value = static_cast<Value>(std::ldexp(mantissa(random), exponent(random)));
  }
  return values;
}

constexpr std::uint64_t kToBf16 = 0, kToF16 = 1, kToF32 = 2;

TEST(Cast, DoublesAreRoundedAsTheProcessorDoes) {
  const auto values = any_values<double>(4000, -160, 126);
  const auto out = round_trip(values, kToF32);
  for (std::size_t at = 0; at < values.size(); ++at) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(out[at]),
              std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<float>(values[at]))))
        << values[at];
  }
}

// The processor's half precision; GCC 12 has no other name for it in C++ on ARM.
#if defined(__aarch64__)
using Half = __fp16;
#else
using Half = _Float16;
#endif

TEST(Cast, HalfPrecisionIsRoundedInOneStep) {
  const auto values = any_values<double>(8000, -30, 14);
  const auto out = round_trip(values, kToF16);
  for (std::size_t at = 0; at < values.size(); ++at) {
    EXPECT_EQ(out[at], static_cast<double>(static_cast<Half>(values[at]))) << values[at];
  }
  // Just above a tie: as fp32 it would be one, and go to the even number below.
  const std::vector<double> ties = {1.0 + std::ldexp(1, -11) + std::ldexp(1, -40)};
  EXPECT_EQ(round_trip(ties, kToF16)[0], 1.0 + std::ldexp(1, -10));
}

TEST(Cast, FloatsAndDoublesOfOneValueAreOneBf16) {
  const auto floats = any_values<float>(8192, -145, 126);
  const std::vector<double> doubles(floats.begin(), floats.end());
  for (const std::uint64_t parameter : {kToBf16}) {
    EXPECT_EQ(*encoded(floats, parameter), *encoded(doubles, parameter));
  }
  const auto halves = any_values<float>(8192, -30, 14);
  EXPECT_EQ(*encoded(halves, kToF16),
            *encoded(std::vector<double>(halves.begin(), halves.end()), kToF16));
}

TEST(Cast, AnErrorIsAShareOfItsValue) {
  const auto values = any_values<float>(8192, -126, 126);
  const std::uint64_t drawn = parameter_of({{"round", "stochastic"}, {"seed", "3"}});
  const auto nearest = round_trip(values, kToBf16), stochastic = round_trip(values, drawn);
  for (std::size_t at = 0; at < values.size(); ++at) {
    const double value = std::fabs(values[at]);
    if (value < std::numeric_limits<float>::min()) continue;
    EXPECT_LE(std::fabs(static_cast<double>(nearest[at]) - values[at]), value * std::ldexp(1, -8));
    EXPECT_LT(std::fabs(static_cast<double>(stochastic[at]) - values[at]),
              value * std::ldexp(1, -7));
  }
}

TEST(Cast, TheMeanIsKept) {
  for (const char* const to : {"bf16", "fp16"}) {
    const std::vector<float> values(8192, 0.3001f);
    double sum = 0;
    for (int seed = 0; seed < 32; ++seed) {
      const std::string text = std::to_string(seed);
      const auto parameter = parameter_of({{"to", to}, {"round", "stochastic"}, {"seed", text}});
      for (const float value : round_trip(values, parameter)) sum += value;
    }
    EXPECT_NEAR(sum / (32 * 8192), 0.3001, 3e-6) << to;
  }
}

TEST(Cast, ChunksDrawOtherNumbers) {
  const std::vector<float> values(100, 0.3001f);
  const auto parameter = parameter_of({{"round", "stochastic"}});
  EXPECT_NE(*encoded(values, parameter, 0), *encoded(values, parameter, 1));
  EXPECT_EQ(*encoded(values, parameter, 7), *encoded(values, parameter, 7));
}

TEST(Cast, NanAndInfinityStay) {
  constexpr float kEndless = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {kEndless, -kEndless, std::nanf(""), -0.0f, 0.0f, 1e-45f};
  for (const auto parameter :
       {kToBf16, kToF16, parameter_of({{"to", "fp16"}, {"round", "stochastic"}})}) {
    const auto out = round_trip(values, parameter);
    EXPECT_EQ(out[0], kEndless);
    EXPECT_EQ(out[1], -kEndless);
    EXPECT_TRUE(std::isnan(out[2]));
    EXPECT_TRUE(out[3] == 0 && std::signbit(out[3]));
    EXPECT_TRUE(out[4] == 0 && !std::signbit(out[4]));
  }
}

TEST(Cast, WhatWouldBecomeAnInfinityIsDeclined) {
  const auto declines = [](auto value, std::uint64_t parameter) {
    const auto made = encoded(std::vector{value, decltype(value){1}}, parameter);
    return !made.ok() && made.status().code() == StatusCode::kDeclined;
  };
  EXPECT_FALSE(declines(65519.0f, kToF16));
  EXPECT_TRUE(declines(65520.0f, kToF16));
  EXPECT_TRUE(declines(-1e20, kToF16));
  EXPECT_FALSE(declines(3.3e38f, kToBf16));
  EXPECT_TRUE(declines(std::numeric_limits<float>::max(), kToBf16));
  EXPECT_TRUE(declines(1e39, kToF32));
  EXPECT_TRUE(declines(-1e300, kToBf16));
  for (const char* const to : {"bf16", "fp16", "fp32"}) {
    const auto drawn = parameter_of({{"to", to}, {"round", "stochastic"}});
    EXPECT_TRUE(declines(1e300, drawn)) << to;
    EXPECT_FALSE(declines(-6e4, drawn)) << to;
  }
  EXPECT_TRUE(declines(1e6f, parameter_of({{"to", "fp16"}, {"round", "stochastic"}})));
}

TEST(Cast, OptionsAreReadAndSaid) {
  EXPECT_EQ(kCast.describe(parameter_of({})), "to=bf16");
  EXPECT_EQ(kCast.describe(parameter_of({{"to", "fp32"}})), "to=fp32");
  EXPECT_EQ(kCast.describe(parameter_of({{"to", "fp16"}, {"round", "stochastic"}, {"seed", "9"}})),
            "to=fp16,round=stochastic,seed=9");
  const std::vector<std::vector<Option>> wrong = {
      {{"to", "int8"}},
      {{"seed", "1"}},
      {{"round", "up"}},
      {{"bits", "8"}},
      {{"round", "stochastic"}, {"seed", "4294967296"}}};
  for (const auto& options : wrong) EXPECT_FALSE(kCast.parse(options).ok());
}

TEST(Cast, UnsoundParametersAreRefused) {
  EXPECT_TRUE(kCast.check(0, Dtype::kF32, 1).ok());
  EXPECT_TRUE(kCast.check(2, Dtype::kF64, 1).ok());
  EXPECT_EQ(kCast.check(2, Dtype::kF32, 1).code(), StatusCode::kUnsupported);
  for (const std::uint64_t parameter : {3ull, 8ull, 1ull << 31, 1ull << 32, 7ull}) {
    EXPECT_EQ(kCast.check(parameter, Dtype::kF64, 1).code(), StatusCode::kDamaged);
  }
}

TEST(Cast, AnyBytesAreDecoded) {
  std::mt19937 random(2);
  Bytes bytes(8192);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random());
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
    Bytes out(4096 * dtype_size(dtype));
    EXPECT_TRUE(kCast.decode(bytes, {dtype, Shape::line(4096), 0}, kToF16, out.data()).ok());
    EXPECT_FALSE(kCast.decode(bytes, {dtype, Shape::line(4092), 0}, kToF16, out.data()).ok());
  }
}

}  // namespace
}  // namespace thinwire::codec
