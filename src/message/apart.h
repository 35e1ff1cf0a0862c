// Magnitudes of values, and the few that stand far above all others.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/bytes.h"
#include "base/dtype.h"

namespace thinwire::message {

// fp32, fp64 or bf16 as words, whose magnitudes are in the order of the values'.
template <typename Word, int kFractionBits, int kBias>
struct FloatWords {
  using Bits = Word;
  static constexpr int kGapExponent = 20;
  static constexpr int kFarExponent = 48;
  static constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  static constexpr Bits of_exponent(int exponent) {
    return static_cast<Bits>(static_cast<Bits>(exponent + kBias) << kFractionBits);
  }
  static constexpr Bits kInfinity = of_exponent(kBias + 1);
  static constexpr Bits kNearInfinity = of_exponent(kBias - 1);
  static constexpr Bits kGap = static_cast<Bits>(Bits{kGapExponent} << kFractionBits);
  static constexpr Bits kHigh = of_exponent(kFarExponent), kLow = of_exponent(-kFarExponent);
};
using F32Words = FloatWords<std::uint32_t, 23, 127>;
using F64Words = FloatWords<std::uint64_t, 52, 1023>;
using Bf16Words = FloatWords<std::uint16_t, 7, 127>;

// Whether values of the type are looked at so.
constexpr bool has_magnitudes(Dtype dtype) {
  return dtype == Dtype::kF32 || dtype == Dtype::kF64 || dtype == Dtype::kBf16;
}

template <Dtype kDtype>
using FloatWordsOf =
    std::conditional_t<kDtype == Dtype::kF64, F64Words,
                       std::conditional_t<kDtype == Dtype::kBf16, Bf16Words, F32Words>>;

struct Magnitudes {
  std::uint64_t largest = 0;           // of finite values, as a word
  std::uint64_t above = 0, below = 0;  // values above 2^48, and not 0 below 2^-48
};
Magnitudes magnitudes_of(Dtype dtype, const std::byte* values, std::uint64_t count);

// The ends of a whole array.
struct Extremes {
  std::uint64_t largest = 0;  // magnitude of finite values, as a word
  bool has_nan = false;
};
Extremes extremes_of(Dtype dtype, const std::byte* values, std::uint64_t count);

inline constexpr int kMostFills = 4;

// The values within a factor of 2^20 of the largest, if they are of few kinds. NaN and infinity
// count for nothing.
template <typename Bits>
struct Apart {
  Bits kind[kMostFills] = {};
  int kinds = 0;
  bool is_few = true;
  bool has_others = false;  // that are smaller, and not 0

  bool knows(Bits value) const {
    return value == kind[0] || value == kind[1] || value == kind[2] || value == kind[3];
  }
};

// Finds those of an array whose largest magnitude is `largest`. Most arrays end it after a few
// values.
template <typename F>
Apart<typename F::Bits> find_apart(const std::byte* values, std::uint64_t count,
                                   std::uint64_t largest) {
  using Bits = typename F::Bits;
  constexpr std::uint64_t kAtOnce = 256;
  Apart<Bits> apart;
  apart.is_few = largest > F::kGap;
  const Bits least = static_cast<Bits>(largest - F::kGap);
  const auto is_apart = [=](Bits bits) { return bits >= least && bits < F::kInfinity; };
  for (std::uint64_t first = 0; first < count && apart.is_few; first += kAtOnce) {
    const std::uint64_t end = first + kAtOnce < count ? first + kAtOnce : count;
    unsigned is_new = 0, is_other = 0;
    for (std::uint64_t at = first; at < end; ++at) {
      const Bits own = load<Bits>(values + at * sizeof(Bits));
      const auto bits = static_cast<Bits>(own & F::kMagnitude);
      is_new |= static_cast<unsigned>(is_apart(bits) & !apart.knows(own));
      is_other |= static_cast<unsigned>((bits < least) & (bits != 0));
    }
    apart.has_others |= is_other != 0;
    for (std::uint64_t at = first; at < end && is_new != 0 && apart.is_few; ++at) {
      const Bits own = load<Bits>(values + at * sizeof(Bits));
      if (!is_apart(static_cast<Bits>(own & F::kMagnitude)) || apart.knows(own)) continue;
      apart.is_few = apart.kinds < kMostFills;
      if (apart.is_few) apart.kind[apart.kinds++] = own;
    }
  }
  return apart;
}

}  // namespace thinwire::message
