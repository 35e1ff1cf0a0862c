// Arrays to code, and the codec applied to whole arrays chunk by chunk.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "codec/zfp/zfp.h"

namespace thinwire::codec::testing {

enum class Kind {
  kSmooth,
  kNormal,
  kRandomBits,  // any finite value of 2^-98 or more
  kZeros,
  kMixedScale,
  kNegativeZero,
  kHuge,  // up to the largest finite value
  kConstant,
};
inline constexpr Kind kAllKinds[] = {Kind::kSmooth, Kind::kNormal,     Kind::kRandomBits,
                                     Kind::kZeros,  Kind::kMixedScale, Kind::kNegativeZero,
                                     Kind::kHuge,   Kind::kConstant};
inline constexpr const char* kKindNames[] = {
    "Smooth", "Normal", "RandomBits", "Zeros", "MixedScale", "NegativeZero", "Huge", "Constant"};

inline float one_value(Kind kind, std::size_t index, std::mt19937& random) {
  std::normal_distribution<float> normal;
  const auto draw = static_cast<std::uint32_t>(random());
  switch (kind) {
    case Kind::kSmooth: {
      const auto x = static_cast<float>(index);
      return std::sin(x * 0.01f) + 0.25f * std::sin(x * 0.0003f);
    }
    case Kind::kNormal:
      return normal(random);
    case Kind::kRandomBits: {
      const std::uint32_t sign_and_exponent = (draw & 0x80000000) | (29 + draw % 226) << 23;
      const auto fraction = static_cast<std::uint32_t>(random()) & 0x7fffff;
      return std::bit_cast<float>(sign_and_exponent | fraction);
    }
    case Kind::kZeros:
      return 0.0f;
    case Kind::kMixedScale:
      return draw % 3 == 0 ? 0.0f : std::ldexp(normal(random), static_cast<int>(draw % 60) - 30);
    case Kind::kNegativeZero:
      return draw % 2 == 0 ? -0.0f : (draw % 3 == 0 ? -1.5f : 0.0f);
    case Kind::kHuge:
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(std::numeric_limits<float>::max()) -
                                  draw % 5000) *
             (draw & 0x80000000 ? -1.0f : 1.0f);
    case Kind::kConstant:
      return 3.14159f;
  }
  return 0.0f;
}

inline std::vector<float> make_array(Kind kind, std::size_t count, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = one_value(kind, i, random);
  return values;
}

inline Chunk line_chunk(std::uint64_t count) {
  return {.dtype = Dtype::kF32, .shape = Shape::line(count)};
}

// The payloads of all chunks of an array, one behind the other.
inline Result<std::vector<std::byte>> encode_array(const std::vector<float>& values,
                                                   std::uint64_t block_bits) {
  const auto step = kZfp.chunk_extent(Shape::line(values.size()), Dtype::kF32, block_bits);
  std::vector<std::byte> stream;
  for (std::uint64_t at = 0; at < values.size(); at += step) {
    const Chunk chunk = line_chunk(std::min<std::uint64_t>(step, values.size() - at));
    const auto bound = kZfp.bound(chunk, block_bits);
    std::vector<std::byte> payload(bound);
    const auto written = kZfp.encode(reinterpret_cast<const std::byte*>(values.data() + at), chunk,
                                     block_bits, payload.data());
    if (!written.ok()) return written.status();
    if (*written != bound) return {StatusCode::kInternal, "encode wrote another size than bound"};
    stream.insert(stream.end(), payload.begin(), payload.end());
  }
  return stream;
}

inline Result<std::vector<float>> decode_array(const std::vector<std::byte>& stream,
                                               std::uint64_t count, std::uint64_t block_bits) {
  const auto step = kZfp.chunk_extent(Shape::line(count), Dtype::kF32, block_bits);
  std::vector<float> values(count, std::numeric_limits<float>::quiet_NaN());
  std::size_t read = 0;
  for (std::uint64_t at = 0; at < count; at += step) {
    const Chunk chunk = line_chunk(std::min<std::uint64_t>(step, count - at));
    const auto size = kZfp.bound(chunk, block_bits);
    if (stream.size() - read < size) return {StatusCode::kDamaged, "the stream is too short"};
    // A copy of the exact size, so that the address sanitizer sees a read beyond it.
    const std::vector<std::byte> payload(stream.begin() + static_cast<std::ptrdiff_t>(read),
                                         stream.begin() + static_cast<std::ptrdiff_t>(read + size));
    const Status status =
        kZfp.decode(payload, chunk, block_bits, reinterpret_cast<std::byte*>(values.data() + at));
    if (!status.ok()) return status;
    read += size;
  }
  if (read != stream.size()) return {StatusCode::kDamaged, "the stream is too long"};
  return values;
}

// Bit patterns, so that NaN and the sign of zero take part in comparisons.
inline std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(),
                 [](float value) { return std::bit_cast<std::uint32_t>(value); });
  return bits;
}

}  // namespace thinwire::codec::testing
