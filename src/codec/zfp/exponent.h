// The exponent that a block's values share, its header bits, and the scales to integers and back.
// See spec/codec-zfp.md.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace thinwire::codec::zfp {

// The properties of an IEEE type on which the format depends.
template <typename Scalar>
struct FloatFormat;

template <>
struct FloatFormat<float> {
  using Bits = std::uint32_t;
  using Integer = std::int32_t;
  static constexpr int kBits = 32;  // of a value, and bit planes of a block
  static constexpr int kFractionBits = 23;
  static constexpr int kExponentBits = 8;
};

template <>
struct FloatFormat<double> {
  using Bits = std::uint64_t;
  using Integer = std::int64_t;
  static constexpr int kBits = 64;
  static constexpr int kFractionBits = 52;
  static constexpr int kExponentBits = 11;
};

template <typename Scalar>
using BitsOf = typename FloatFormat<Scalar>::Bits;
template <typename Scalar>
using IntegerOf = typename FloatFormat<Scalar>::Integer;

// One bit for "not empty", then the exponent.
template <typename Scalar>
inline constexpr int kHeaderBits = 1 + FloatFormat<Scalar>::kExponentBits;

template <typename Scalar>
inline constexpr int kExponentBias = (1 << (FloatFormat<Scalar>::kExponentBits - 1)) - 1;

template <typename Scalar>
inline constexpr IntegerOf<Scalar> kInfinityBits =
    ((IntegerOf<Scalar>{1} << FloatFormat<Scalar>::kExponentBits) - 1)
    << FloatFormat<Scalar>::kFractionBits;

// The biased exponent of 2^-98 (fp64: 2^-962). Below it the scale of a block would overflow its own
// type, so such a block is coded empty.
template <typename Scalar>
inline constexpr int kSmallestExponent = FloatFormat<Scalar>::kBits - 3;

template <typename Scalar>
inline constexpr IntegerOf<Scalar> kSmallestCodedBits =
    IntegerOf<Scalar>{kSmallestExponent<Scalar>} << FloatFormat<Scalar>::kFractionBits;

// Here and below the builtin, because std::bit_cast is a host function to a CUDA compiler.

// The bits of |value|, which compare as magnitudes do: NaN above infinity above the rest. Signed,
// as vector units compare signed words more readily.
template <typename Scalar>
THINWIRE_HOST_DEVICE constexpr IntegerOf<Scalar> magnitude_bits(Scalar value) {
  return static_cast<IntegerOf<Scalar>>(__builtin_bit_cast(BitsOf<Scalar>, value) << 1 >> 1);
}

// The header bits of a block whose largest magnitude is `largest`, finite; 0 when empty.
template <typename Scalar>
THINWIRE_HOST_DEVICE constexpr std::int32_t block_header(IntegerOf<Scalar> largest) {
  const auto exponent = static_cast<std::int32_t>(largest >> FloatFormat<Scalar>::kFractionBits);
  return largest >= kSmallestCodedBits<Scalar> ? (exponent + 1) * 2 + 1 : 0;
}

// The factor that makes values of such a block integers below 2^30 (fp64: 2^62); 0 if it is empty.
template <typename Scalar>
THINWIRE_HOST_DEVICE constexpr Scalar forward_scale(IntegerOf<Scalar> largest) {
  using Format = FloatFormat<Scalar>;
  constexpr IntegerOf<Scalar> kTop = 2 * kExponentBias<Scalar> + Format::kBits - 3;
  const IntegerOf<Scalar> exponent = kTop - (largest >> Format::kFractionBits);
  const IntegerOf<Scalar> bits = exponent << Format::kFractionBits;
  return __builtin_bit_cast(Scalar, largest >= kSmallestCodedBits<Scalar> ? bits : 0);
}

// The factor that makes integers of a block with this header values: 2^(e - 157) (fp64: 2^(e -
// 1085)), subnormal or 0 at the end of the type's range. An empty block has no integers but zeros,
// so its scale does not matter.
template <typename Scalar>
THINWIRE_HOST_DEVICE constexpr Scalar inverse_scale(std::uint32_t header) {
  using Format = FloatFormat<Scalar>;
  using Bits = BitsOf<Scalar>;
  constexpr std::uint32_t kNormal = Format::kBits - 2;                       // e of a biased 0
  constexpr std::uint32_t kSubnormal = kNormal + 1 - Format::kFractionBits;  // e of the lowest bit
  const std::uint32_t exponent = (header >> 1) & ((1u << Format::kExponentBits) - 1);
  const Bits normal = Bits{exponent - kNormal} << Format::kFractionBits;
  const Bits subnormal =
      exponent >= kSubnormal ? Bits{1} << ((exponent - kSubnormal) & (Format::kBits - 1)) : 0;
  return __builtin_bit_cast(Scalar, exponent > kNormal ? normal : subnormal);
}

// The lowest plane that blocks with this header have. Above 0 only for fp64 blocks too small to be
// coded by this library.
template <typename Scalar, int kRank>
THINWIRE_HOST_DEVICE constexpr int lowest_plane(std::uint32_t header) {
  if constexpr (sizeof(Scalar) == 4) return 0;
  const int exponent = static_cast<int>(header >> 1 & 0x7ff);
  const int missing = 11 - 2 * kRank - exponent;
  return missing > 0 ? missing : 0;
}

// ---- Values to integers and back; the only arithmetic on floats, never contracted ----

template <typename Scalar>
THINWIRE_HOST_DEVICE constexpr BitsOf<Scalar> quantise(Scalar value, Scalar scale) {
  return static_cast<BitsOf<Scalar>>(static_cast<IntegerOf<Scalar>>(value * scale));
}

template <typename Scalar>
THINWIRE_HOST_DEVICE constexpr Scalar restore(BitsOf<Scalar> value, Scalar scale) {
  return static_cast<Scalar>(static_cast<IntegerOf<Scalar>>(value)) * scale;
}

}  // namespace thinwire::codec::zfp
