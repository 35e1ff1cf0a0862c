// Test arrays of every dtype, and every codec of the registry with its example spec.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "base/numbers.h"
#include "codec/registry.h"
#include "codec/spec.h"
#include "message/message.h"

namespace thinwire::message {

inline const std::vector<std::uint64_t> kLengths = {0,  1,  2,    3,     4,     5,
                                                    31, 64, 1000, 16384, 16385, 40001};

inline codec::Chunk line(Dtype dtype, std::uint64_t count) { return {dtype, Shape::line(count)}; }

// A smooth wave; the narrow types take the upper bits of fp32, which are sound values of bf16 and
// finite ones of fp16, and 8-bit floats the upper bits of fp16.
inline std::vector<std::byte> smooth(Dtype dtype, std::uint64_t count, unsigned seed = 1) {
  std::vector<std::byte> bytes(count * dtype_size(dtype));
  std::mt19937 random(seed);
  const double phase = random() * 1e-6;
  for (std::uint64_t at = 0; at < count; ++at) {
    const double value = std::sin(0.01 * static_cast<double>(at) + phase);
    std::byte* to = bytes.data() + at * dtype_size(dtype);
    const auto narrow = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    switch (dtype_size(dtype)) {
      case 8:
        store(to, value);
        break;
      case 4:
        store(to, narrow);
        break;
      case 2:
        store(to, static_cast<std::uint16_t>(narrow >> 16));
        break;
      default:
        store(to, dtype == Dtype::kBytes
                      ? static_cast<std::uint8_t>(static_cast<int>(100 * value))
                      : static_cast<std::uint8_t>(f16_of(static_cast<float>(value)) >> 8));
        break;
    }
  }
  return bytes;
}

// Calls `body(coder, dtype)` for every codec of the registry that codes host memory, at every dtype
// that it takes.
template <typename Body>
void for_each_coder(Body&& body) {
  for (const codec::Codec* codec : codec::all_codecs()) {
    if (codec->gpu_only) continue;
    const auto spec = codec::parse_spec(codec->example);
    ASSERT_TRUE(spec.ok()) << codec->example << ": " << spec.status().message();
    for (int dtype = 0; dtype < kDtypeCount; ++dtype) {
      if (!codec->takes(static_cast<Dtype>(dtype))) continue;
      SCOPED_TRACE(std::string(codec->example) + " " + dtype_name(static_cast<Dtype>(dtype)));
      body(Coder{spec->codec, spec->parameter}, static_cast<Dtype>(dtype));
    }
  }
}

inline std::vector<std::byte> encoded(const Coder& coder, const codec::Chunk& array,
                                      const std::vector<std::byte>& data,
                                      EncodeOptions options = {}) {
  std::vector<std::byte> frame(*bound(coder, array));
  const auto written = encode(coder, array, data.data(), frame, options);
  EXPECT_TRUE(written.ok()) << written.status().message();
  frame.resize(written.ok() ? *written : 0);
  return frame;
}

}  // namespace thinwire::message
