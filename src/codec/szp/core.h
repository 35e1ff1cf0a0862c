// The lattice: which values are decoded to what, and which must be stored. Host and device code; it
// defines bytes. See spec/codec-szp.md, "The lattice", for why the bound holds.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/host_device.h"

namespace thinwire::codec::szp {

template <typename Value>
struct ValueTraits;

// kRounder is 1.5 * 2^m for m bits of mantissa: adding it rounds to an integer, and leaves that
// integer in the low bits of the pattern, as a difference from the rounder's own. kSafe is
// kMargin / 2 / 2^-m, and a little less.
template <>
struct ValueTraits<float> {
  using Bits = std::uint32_t;
  static constexpr float kRounder = 12582912.0f;
  static constexpr std::uint32_t kRounderBits = 0x4B400000u;
  static constexpr float kLimit = 4194304.0f;
  static constexpr int kMantissaBits = 23;
  static constexpr int kClearedBits = 14;
  static constexpr float kMargin = 0x1p-10f;
  static constexpr float kSafe = 4080.0f;
  static constexpr float kLeastHalf = 0x1p-101f;
  static constexpr float kMostHalf = 0x1p119f;
  static constexpr float kMostFinite = FLT_MAX;
};

template <>
struct ValueTraits<double> {
  using Bits = std::uint64_t;
  static constexpr double kRounder = 6755399441055744.0;
  static constexpr std::uint64_t kRounderBits = 0x4338000000000000u;
  static constexpr double kLimit = 1073741824.0;
  static constexpr int kMantissaBits = 52;
  static constexpr int kClearedBits = 32;
  static constexpr double kMargin = 0x1p-26;
  static constexpr double kSafe = 33000000.0;
  static constexpr double kLeastHalf = 0x1p-901;
  static constexpr double kMostHalf = 0x1p999;
  static constexpr double kMostFinite = DBL_MAX;
};

template <typename Value>
using BitsOf = typename ValueTraits<Value>::Bits;

template <typename Value>
THINWIRE_HOST_DEVICE inline BitsOf<Value> to_bits(Value value) {
  BitsOf<Value> bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

template <typename Value>
THINWIRE_HOST_DEVICE inline Value from_bits(BitsOf<Value> bits) {
  Value value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Points `step` apart; what lies at most `half` from one may be decoded to it. `half` is 0 if
// there is no lattice. A value whose place on the lattice, as computed, is at most `safe` need not
// be compared with what it becomes.
template <typename Value>
struct Lattice {
  Value half;
  Value step;
  Value inverse;
  Value safe;

  THINWIRE_HOST_DEVICE bool exists() const { return half > Value{0}; }
};

// The largest float that is not above a positive finite number.
THINWIRE_HOST_DEVICE inline float round_down(double value, float) {
#if defined(__CUDA_ARCH__)
  return __double2float_rd(value);
#else
  if (value >= static_cast<double>(FLT_MAX)) return FLT_MAX;
  const float nearest = static_cast<float>(value);
  return static_cast<double>(nearest) > value ? from_bits<float>(to_bits(nearest) - 1) : nearest;
#endif
}

THINWIRE_HOST_DEVICE inline double round_down(double value, double) { return value; }

// The lattice of a bound whose bits are `parameter`, which passed check().
template <typename Value>
THINWIRE_HOST_DEVICE inline Lattice<Value> make_lattice(std::uint64_t parameter) {
  using Traits = ValueTraits<Value>;
  using Bits = BitsOf<Value>;
  Lattice<Value> lattice{};
  if (parameter == 0) return lattice;
  Value half = round_down(from_bits<double>(parameter), Value{});
  if (half > Traits::kMostHalf) half = Traits::kMostHalf;
  if (half < Traits::kLeastHalf) return lattice;
  const Bits unit = Bits{1} << Traits::kClearedBits;
  const Value twice = half + half;
  Bits step = to_bits(twice) & ~(unit - 1);
  const Value rest = twice - from_bits<Value>(step);
  if (rest > Value{0} && rest < from_bits<Value>(step) * Traits::kMargin) step -= unit;
  lattice.half = half;
  lattice.step = from_bits<Value>(step);
  lattice.inverse = Value{1} / lattice.step;
  // Powers of two: nothing is rounded but the place, to an integer. Without a margin: all is
  // compared.
  const bool is_power = to_bits(lattice.step) << (8 * sizeof(Value) - Traits::kMantissaBits) == 0;
  // If the largest point may lie beyond the largest number, all values are compared as well.
  const bool overflows = lattice.step > Traits::kMostFinite / (2 * Traits::kLimit);
  lattice.safe = overflows              ? Value{0}
                 : lattice.step < twice ? Traits::kSafe
                 : is_power             ? Traits::kLimit - Value{1}
                                        : Value{0};
  return lattice;
}

// A value against the lattice.
template <typename Value>
struct Quantised {
  std::uint32_t index;       // q, modulo 2^32
  BitsOf<Value> is_bounded;  // 1, or 0: the value itself must be stored
};

template <typename Value>
THINWIRE_HOST_DEVICE inline Quantised<Value> quantise(Value value, const Lattice<Value>& lattice) {
  using Traits = ValueTraits<Value>;
  const Value place = value * lattice.inverse;
  const Value shifted = place + Traits::kRounder;
  const Value decoded = (shifted - Traits::kRounder) * lattice.step;
  const Value error = value - decoded;
  // Written so that NaN fails, and without a branch, so that loops of it are vectorised.
  const BitsOf<Value> in_range = std::fabs(place) < Traits::kLimit;
  const BitsOf<Value> is_near = std::fabs(error) <= lattice.half;
  const BitsOf<Value> index = (to_bits(shifted) - Traits::kRounderBits) & (0 - in_range);
  return {static_cast<std::uint32_t>(index), in_range & is_near};
}

// The values at which decoding puts the lattice's points.
THINWIRE_HOST_DEVICE inline float value_at(std::uint32_t index, const Lattice<float>& lattice) {
  const float shifted = from_bits<float>(index + ValueTraits<float>::kRounderBits);
  return (shifted - ValueTraits<float>::kRounder) * lattice.step;
}

THINWIRE_HOST_DEVICE inline double value_at(std::uint32_t index, const Lattice<double>& lattice) {
  return static_cast<double>(static_cast<std::int32_t>(index)) * lattice.step;
}

// ---- Bounds relative to the range ----

// The bit of a spec's parameter that is a share of the range. A frame has the bound itself.
inline constexpr std::uint64_t kOpenParameter = std::uint64_t{1} << 63;

THINWIRE_HOST_DEVICE inline bool is_open(std::uint64_t parameter) {
  return (parameter & kOpenParameter) != 0;
}

// Whether a parameter is one that a frame may have.
THINWIRE_HOST_DEVICE inline bool is_bound(std::uint64_t parameter) {
  return parameter < std::uint64_t{0x7FF} << 52;
}

// The parameter for an array whose finite values reach from `least` to `most`; for one without
// finite values, least > most.
THINWIRE_HOST_DEVICE inline std::uint64_t close_parameter(std::uint64_t parameter, double least,
                                                          double most) {
  if (!(least < most)) return 0;
  double range = most - least;
  if (range > DBL_MAX) range = DBL_MAX;
  const std::uint64_t bits = to_bits(from_bits<double>(parameter & ~kOpenParameter) * range);
  return bits < 3 ? 0 : bits - 2;
}

}  // namespace thinwire::codec::szp
