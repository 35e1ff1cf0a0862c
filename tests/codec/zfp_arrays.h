// Arrays to code, and the codec applied to whole arrays chunk by chunk.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

#include "codec/layout.h"
#include "codec/registry.h"
#include "codec/zfp/exponent.h"

namespace thinwire::codec::testing {

enum class Kind {
  kSmooth,
  kNormal,
  kRandomBits,  // any finite value that is not too small to be coded
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

template <typename Scalar>
inline constexpr Dtype kDtypeOf = sizeof(Scalar) == 8 ? Dtype::kF64 : Dtype::kF32;

// The suites that run for every dtype of the codec.
using ZfpScalars = ::testing::Types<float, double>;
struct DtypeNames {
  template <typename Scalar>
  static std::string GetName(int) {
    return dtype_name(kDtypeOf<Scalar>);
  }
};

// 2^-98, or 2^-962: blocks below it are coded empty.
template <typename Scalar>
inline const Scalar kSmallestCoded = std::ldexp(Scalar{1}, sizeof(Scalar) == 8 ? -962 : -98);

template <typename Scalar>
Scalar random_bits_value(std::mt19937& random) {
  using Bits = zfp::BitsOf<Scalar>;
  constexpr int kFraction = zfp::FloatFormat<Scalar>::kFractionBits;
  constexpr unsigned kLowest = zfp::kSmallestExponent<Scalar>;
  constexpr unsigned kInfinite = 2 * zfp::kExponentBias<Scalar> + 1;
  const Bits draw = static_cast<Bits>(std::uint64_t{random()} << 32 | random());
  const Bits exponent = kLowest + static_cast<Bits>(random()) % (kInfinite - kLowest);
  const Bits sign = draw >> (sizeof(Bits) * 8 - 1) << (sizeof(Bits) * 8 - 1);
  return std::bit_cast<Scalar>(sign | exponent << kFraction |
                               (draw & ((Bits{1} << kFraction) - 1)));
}

template <typename Scalar>
Scalar one_value(Kind kind, std::size_t index, std::mt19937& random) {
  std::normal_distribution<Scalar> normal;
  const auto draw = static_cast<std::uint32_t>(random());
  switch (kind) {
    case Kind::kSmooth: {
      const auto x = static_cast<Scalar>(index);
      return std::sin(x * Scalar{0.01f}) + Scalar{0.25} * std::sin(x * Scalar{0.0003f});
    }
    case Kind::kNormal:
      return normal(random);
    case Kind::kRandomBits:
      return random_bits_value<Scalar>(random);
    case Kind::kZeros:
      return 0;
    case Kind::kMixedScale:
      return draw % 3 == 0 ? 0 : std::ldexp(normal(random), static_cast<int>(draw % 60) - 30);
    case Kind::kNegativeZero:
      return draw % 2 == 0 ? Scalar{-0.0} : (draw % 3 == 0 ? Scalar{-1.5} : 0);
    case Kind::kHuge: {
      const auto most =
          std::bit_cast<zfp::BitsOf<Scalar>>(std::numeric_limits<Scalar>::max()) - draw % 5000;
      return std::bit_cast<Scalar>(most) * (draw & 0x80000000 ? Scalar{-1} : Scalar{1});
    }
    case Kind::kConstant:
      return Scalar{3.14159f};
  }
  return 0;
}

template <typename Scalar>
std::vector<Scalar> make_array(Kind kind, std::size_t count, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<Scalar> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = one_value<Scalar>(kind, i, random);
  return values;
}

inline Shape make_shape(std::initializer_list<std::uint64_t> extents) {
  Shape shape;
  shape.rank = static_cast<int>(extents.size());
  std::copy(extents.begin(), extents.end(), shape.extent.begin());
  return shape;
}

inline const std::vector<Shape>& some_shapes() {
  static const std::vector<Shape> shapes = {
      Shape::line(1),      Shape::line(5),        Shape::line(67),        make_shape({1, 3}),
      make_shape({13, 9}), make_shape({2, 2, 3}), make_shape({5, 7, 11}), make_shape({8, 4, 12})};
  return shapes;
}

// The parameter word of a rate.
constexpr std::uint64_t rate_word(double rate) { return static_cast<std::uint64_t>(rate * 64); }

// The payloads of all chunks of an array, one after the other.
template <typename Scalar>
Result<std::vector<std::byte>> encode_array(const std::vector<Scalar>& values, const Shape& shape,
                                            std::uint64_t parameter) {
  const Layout layout = make_layout(kZfp, parameter, {kDtypeOf<Scalar>, shape});
  const auto* source = reinterpret_cast<const std::byte*>(values.data());
  std::vector<std::byte> stream;
  for (std::uint64_t index = 0; index < layout.chunks; ++index) {
    const auto bound = kZfp.bound(layout.chunk(index), parameter);
    std::vector<std::byte> payload(bound);
    const auto written = kZfp.encode(source + layout.raw_offset(index), layout.chunk(index),
                                     parameter, payload.data());
    if (!written.ok()) return written.status();
    if (*written != bound) return {StatusCode::kInternal, "encode wrote another size than bound"};
    stream.insert(stream.end(), payload.begin(), payload.end());
  }
  return stream;
}

template <typename Scalar>
Result<std::vector<Scalar>> decode_array(const std::vector<std::byte>& stream, const Shape& shape,
                                         std::uint64_t parameter) {
  const Layout layout = make_layout(kZfp, parameter, {kDtypeOf<Scalar>, shape});
  std::vector<Scalar> values(shape.count(), std::numeric_limits<Scalar>::quiet_NaN());
  auto* out = reinterpret_cast<std::byte*>(values.data());
  std::size_t read = 0;
  for (std::uint64_t index = 0; index < layout.chunks; ++index) {
    const auto size = kZfp.bound(layout.chunk(index), parameter);
    if (stream.size() - read < size) return {StatusCode::kDamaged, "the stream is too short"};
    // A copy of the exact size, so that the address sanitizer sees a read beyond it.
    const std::vector<std::byte> payload(stream.begin() + static_cast<std::ptrdiff_t>(read),
                                         stream.begin() + static_cast<std::ptrdiff_t>(read + size));
    const Status status =
        kZfp.decode(payload, layout.chunk(index), parameter, out + layout.raw_offset(index));
    if (!status.ok()) return status;
    read += size;
  }
  if (read != stream.size()) return {StatusCode::kDamaged, "the stream is too long"};
  return values;
}

// Bytes that the payloads of an array take.
template <typename Scalar>
std::uint64_t stream_bytes(const Shape& shape, std::uint64_t parameter) {
  const Layout layout = make_layout(kZfp, parameter, {kDtypeOf<Scalar>, shape});
  std::uint64_t bytes = 0;
  for (std::uint64_t index = 0; index < layout.chunks; ++index) {
    bytes += kZfp.bound(layout.chunk(index), parameter);
  }
  return bytes;
}

// Bit patterns, so that NaN and the sign of zero take part in comparisons.
template <typename Scalar>
std::vector<zfp::BitsOf<Scalar>> bits_of(const std::vector<Scalar>& values) {
  std::vector<zfp::BitsOf<Scalar>> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(),
                 [](Scalar value) { return std::bit_cast<zfp::BitsOf<Scalar>>(value); });
  return bits;
}

}  // namespace thinwire::codec::testing
