// The blockq codec: its promises, and its options.
#include "codec/registry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "codec/blockq/core.h"

namespace thinwire::codec {
namespace {

using Bytes = std::vector<std::byte>;

Chunk line(Dtype dtype, std::size_t count, std::uint64_t index = 0) {
  return {dtype, Shape::line(count), index};
}

std::uint64_t parameter_of(std::string_view text) {
  std::vector<Option> options;
  while (!text.empty()) {
    const auto each = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), each.size() + 1));
    options.push_back({each.substr(0, each.find('=')), each.substr(each.find('=') + 1)});
  }
  const auto parameter = kBlockq.parse(options);
  EXPECT_TRUE(parameter.ok()) << parameter.status().message();
  return *parameter;
}

Bytes encoded(const Chunk& chunk, const std::byte* values, std::uint64_t parameter) {
  Bytes out(kBlockq.bound(chunk, parameter) + 64, std::byte{0xC5});
  const auto written = kBlockq.encode(values, chunk, parameter, out.data());
  EXPECT_TRUE(written.ok()) << written.status().message();
  EXPECT_EQ(*written, out.size() - 64);
  for (std::size_t at = out.size() - 64; at < out.size(); ++at) {
    EXPECT_EQ(out[at], std::byte{0xC5}) << "written behind the bound";
  }
  out.resize(out.size() - 64);
  return out;
}

std::vector<float> round_trip(const std::vector<float>& values, std::uint64_t parameter) {
  const Chunk chunk = line(Dtype::kF32, values.size());
  const Bytes stream = encoded(chunk, reinterpret_cast<const std::byte*>(values.data()), parameter);
  std::vector<float> out(values.size());
  const Status status =
      kBlockq.decode(stream, chunk, parameter, reinterpret_cast<std::byte*>(out.data()));
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

double signal_to_noise(const std::vector<float>& values, std::uint64_t parameter) {
  const auto out = round_trip(values, parameter);
  double signal = 0, noise = 0;
  for (std::size_t at = 0; at < values.size(); ++at) {
    signal += static_cast<double>(values[at]) * values[at];
    noise +=
        (static_cast<double>(values[at]) - out[at]) * (static_cast<double>(values[at]) - out[at]);
  }
  return 10 * std::log10(signal / noise);
}

std::vector<float> gaussian(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

const char* const kSpecs[] = {"",
                              "block=64",
                              "block=128,scale=e8m0",
                              "bits=4",
                              "bits=4,block=128",
                              "bits=4,scale=e8m0",
                              "format=e4m3",
                              "format=mxfp8",
                              "hadamard=1",
                              "bits=4,hadamard=1,block=128",
                              "format=e4m3,hadamard=1,block=64",
                              "round=stochastic,seed=7",
                              "bits=4,round=stochastic,seed=4294967295",
                              "format=e4m3,round=stochastic"};

TEST(Blockq, NoiseIsThatOfItsBits) {
  const auto values = gaussian(8192, 1);
  const auto decibels = [&](const char* spec) {
    return signal_to_noise(values, parameter_of(spec));
  };
  EXPECT_GT(decibels("bits=8"), 45.0);
  EXPECT_GT(decibels("bits=4"), 20.1);
  EXPECT_GT(decibels("bits=8,block=128"), 43.4);
  EXPECT_GT(decibels("format=e4m3"), 31);
  EXPECT_GT(decibels("format=mxfp8"), 31);
  EXPECT_GT(decibels("bits=8,round=stochastic"), 42.0);
}

TEST(Blockq, RotationSpreadsOutliers) {
  auto values = gaussian(8192, 2);
  for (std::size_t at = 0; at < values.size(); at += 97) values[at] *= 40;
  const double plain = signal_to_noise(values, parameter_of("bits=4,block=128"));
  EXPECT_GT(signal_to_noise(values, parameter_of("bits=4,block=128,hadamard=1")), plain + 3);
}

TEST(Blockq, StochasticRoundingKeepsTheMean) {
  const std::vector<float> values(8192, 0.3f);
  auto shifted = values;
  for (std::size_t at = 0; at < shifted.size(); at += 32) shifted[at] = 127;
  double sum = 0;
  for (unsigned seed = 0; seed < 16; ++seed) {
    const auto out =
        round_trip(shifted, parameter_of("round=stochastic,seed=" + std::to_string(seed)));
    for (std::size_t at = 0; at < out.size(); ++at) sum += at % 32 == 0 ? 0 : out[at];
  }
  EXPECT_NEAR(sum / (16 * 8192 * 31 / 32), 0.3, 0.006);  // five times the deviation
}

TEST(Blockq, ChunksAndSeedsDrawDifferently) {
  const auto values = gaussian(256, 3);
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  const auto seed1 = parameter_of("round=stochastic,seed=1");
  const auto seed2 = parameter_of("round=stochastic,seed=2");
  const Chunk first = line(Dtype::kF32, 256), second = line(Dtype::kF32, 256, 1);
  EXPECT_EQ(encoded(first, bytes, seed1), encoded(first, bytes, seed1));
  EXPECT_NE(encoded(first, bytes, seed1), encoded(second, bytes, seed1));
  EXPECT_NE(encoded(first, bytes, seed1), encoded(first, bytes, seed2));
}

TEST(Blockq, WholeNumbersInRangeAreExact) {
  std::vector<float> values(64);
  for (std::size_t at = 0; at < 64; ++at) values[at] = static_cast<float>(at * 4) - 127;
  values[40] = 127;
  for (const char* spec : {"", "scale=e8m0", "block=64"}) {
    EXPECT_EQ(round_trip(values, parameter_of(spec)), values) << spec;
  }
  for (float& value : values) value = std::fmod(value, 8.0f);
  values[0] = values[32] = -7;
  EXPECT_EQ(round_trip(values, parameter_of("bits=4")), values);
}

TEST(Blockq, ExtremesStayFiniteAndNear) {
  std::vector<float> values;
  for (const float magnitude : {0.0f, 1e-45f, 1e-40f, 1.2e-38f, 1e-36f, 3.4028235e38f}) {
    for (int at = 0; at < 128; ++at) {
      values.push_back((at % 2 == 0 ? 1.0f : -1.0f) * magnitude *
                       (1 - static_cast<float>(at / 2) / 64));
    }
  }
  values.push_back(-0.0f);
  for (const char* spec : kSpecs) {
    SCOPED_TRACE(spec);
    const auto out = round_trip(values, parameter_of(spec));
    for (std::size_t at = 0; at < values.size(); ++at) {
      ASSERT_TRUE(std::isfinite(out[at]));
      const float largest = at < 768 ? std::fabs(values[at / 128 * 128]) : 0.0f;
      ASSERT_LE(std::fabs(values[at] - out[at]), 0.4f * largest + 1e-38f * 8) << at;
    }
  }
}

TEST(Blockq, WhatIsNotFiniteIsDeclined) {
  for (const char* spec : kSpecs) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
      auto values = gaussian(100, 4);
      values[99] = bad;
      const Chunk chunk = line(Dtype::kF32, values.size());
      const auto parameter = parameter_of(spec);
      Bytes out(kBlockq.bound(chunk, parameter));
      const auto status = kBlockq.encode(reinterpret_cast<const std::byte*>(values.data()), chunk,
                                         parameter, out.data());
      EXPECT_EQ(status.status().code(), StatusCode::kDeclined) << spec;
    }
  }
}

TEST(Blockq, AnyBytesDecodeToFiniteValues) {
  std::mt19937_64 random(5);
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBf16}) {
    for (const char* spec : kSpecs) {
      const Chunk chunk = line(dtype, 1000);
      const auto parameter = parameter_of(spec);
      Bytes stream(kBlockq.bound(chunk, parameter));
      for (std::byte& byte : stream) byte = static_cast<std::byte>(random());
      Bytes out(chunk.raw_bytes());
      ASSERT_TRUE(kBlockq.decode(stream, chunk, parameter, out.data()).ok());
      for (std::size_t at = 0; at < 1000; ++at) {
        const float value = dtype == Dtype::kF32 ? load<float>(out.data() + 4 * at)
                            : dtype == Dtype::kF16
                                ? float_of_f16(load<std::uint16_t>(out.data() + 2 * at))
                                : float_of_bf16(load<std::uint16_t>(out.data() + 2 * at));
        ASSERT_TRUE(std::isfinite(value)) << spec;
      }
    }
  }
}

TEST(Blockq, WrongLengthsAreDamage) {
  const Chunk chunk = line(Dtype::kF32, 100);
  Bytes out(chunk.raw_bytes());
  for (const std::size_t length : {0, 8, 135, 144}) {
    EXPECT_EQ(kBlockq.decode(Bytes(length), chunk, 0, out.data()).code(), StatusCode::kDamaged);
  }
  EXPECT_TRUE(kBlockq.decode(Bytes(136), chunk, 0, out.data()).ok());
}

TEST(Blockq, EveryE4m3IsItself) {
  for (std::uint32_t code = 0; code < 256; ++code) {
    if ((code & 0x7F) == 0x7F) continue;
    EXPECT_EQ(blockq::e4m3_of(blockq::float_of_e4m3(code)), code);
    EXPECT_EQ(blockq::stochastic_e4m3(blockq::float_of_e4m3(code), 0xFFFF), code);
  }
}

TEST(Blockq, OptionsReadBack) {
  for (const char* spec : kSpecs) {
    const auto parameter = parameter_of(spec);
    EXPECT_TRUE(kBlockq.check(parameter, Dtype::kF32, 1).ok());
    EXPECT_EQ(parameter_of(kBlockq.describe(parameter)), parameter) << spec;
  }
  EXPECT_EQ(parameter_of("bits=8"), 0u);
  EXPECT_EQ(parameter_of("format=mxfp8"), parameter_of("format=e4m3,block=32,scale=e8m0"));
}

TEST(Blockq, WhatIsNoOptionIsRefused) {
  const Option wrong[][2] = {
      {{"bits", "5"}, {"block", "32"}},       {{"block", "16"}, {"bits", "8"}},
      {{"bits", "int8"}, {"bits", "8"}},      {{"format", "8"}, {"bits", "8"}},
      {{"bits", "8"}, {"format", "e4m3"}},    {{"format", "mxfp8"}, {"scale", "bf16"}},
      {{"block", "64"}, {"format", "mxfp8"}}, {{"scale", "fp16"}, {"bits", "8"}},
      {{"hadamard", "2"}, {"bits", "8"}},     {{"round", "up"}, {"bits", "8"}},
      {{"seed", "1"}, {"bits", "8"}},         {{"round", "stochastic"}, {"seed", "4294967296"}},
      {{"rate", "8"}, {"bits", "8"}},         {{"round", "nearest"}, {"seed", "0"}}};
  for (const auto& options : wrong) {
    EXPECT_EQ(kBlockq.parse({options, 2}).status().code(), StatusCode::kInvalidArgument)
        << options[0].key << "=" << options[0].value;
  }
  for (const std::uint64_t parameter : {std::uint64_t{3}, std::uint64_t{0xC}, std::uint64_t{0x80},
                                        std::uint64_t{1} << 31, std::uint64_t{1} << 32}) {
    EXPECT_EQ(kBlockq.check(parameter, Dtype::kF32, 1).code(), StatusCode::kDamaged);
  }
}

}  // namespace
}  // namespace thinwire::codec
