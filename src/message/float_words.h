// The layout of floats as words whose magnitudes are in the order of the values'.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/dtype.h"

namespace thinwire::message {

// Exponents of words that say how far values lie apart. In fp16, which reaches no farther than
// 2^15, kMagnitude and kInfinity alone mean something.
template <typename Word, int kFractionBits, int kBias>
struct FloatWords {
  using Bits = Word;
  static constexpr int kGapExponent = 20;
  static constexpr int kFarExponent = 48;
  static constexpr Bits kMagnitude = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
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
using F16Words = FloatWords<std::uint16_t, 10, 15>;
using Bf16Words = FloatWords<std::uint16_t, 7, 127>;

// Whether values of the type are looked at by their exponents.
constexpr bool has_magnitudes(Dtype dtype) {
  return dtype == Dtype::kF32 || dtype == Dtype::kF64 || dtype == Dtype::kBf16;
}

template <Dtype kDtype>
using FloatWordsOf = std::conditional_t<
    kDtype == Dtype::kF64, F64Words,
    std::conditional_t<kDtype == Dtype::kBf16, Bf16Words,
                       std::conditional_t<kDtype == Dtype::kF16, F16Words, F32Words>>>;

// Most kinds of fill values that "auto" tells apart, NaN aside.
inline constexpr int kMostFills = 4;

}  // namespace thinwire::message
