// blockq's arithmetic: everything that defines bytes and values. Host and device code; no
// containers, no allocation. See spec/codec-blockq.md.
#pragma once

#include "base/numbers.h"
#include "codec/accumulate.h"
#include "codec/blockq/options.h"
#include "codec/draw.h"

namespace thinwire::codec::blockq {

inline constexpr std::uint32_t kInfinityBits = 0x7F800000u;

// ---- Scales ----

// The largest magnitude that the elements have.
template <Element kElement>
inline constexpr float kMost = kElement == Element::kInt8   ? 127.0f
                               : kElement == Element::kInt4 ? 7.0f
                                                            : 448.0f;

// A little more than 1 / kMost: enough for the product to be no less than the quotient.
template <Element kElement>
THINWIRE_HOST_DEVICE inline float quotient_bound(float largest) {
  constexpr std::uint32_t kBits = kElement == Element::kInt8   ? 0x3C010204u + 3
                                  : kElement == Element::kInt4 ? 0x3E124925u + 3
                                                               : 0x3B124925u + 3;
  return largest * float_of(kBits);
}

// The bits, as an fp32, of the scale of a block whose largest magnitude has the bits `largest`.
template <Element kElement>
THINWIRE_HOST_DEVICE inline std::uint32_t bf16_scale(std::uint32_t largest) {
  const float magnitude = float_of(largest);
  std::uint32_t bits = bits_of(quotient_bound<kElement>(magnitude)) & 0xFFFF0000u;
  // The bound is truncated to the wanted scale, to the one below it, or is that itself.
  if (float_of(bits) * kMost<kElement> < magnitude) bits += 0x10000;
  return bits < 0x00800000u ? 0x00800000u : bits;
}

template <Element kElement>
THINWIRE_HOST_DEVICE inline std::uint32_t power_of_two_scale(std::uint32_t largest) {
  // kMost is its power of two times 1.984375 (int8) or 1.75: a mantissa above that takes the next.
  constexpr std::uint32_t kRoundUp = kElement == Element::kInt8 ? 0x01FFFF : 0x1FFFFF;
  constexpr std::uint32_t kPower = kElement == Element::kInt8   ? 6
                                   : kElement == Element::kInt4 ? 2
                                                                : 8;
  const std::uint32_t exponent = (largest + kRoundUp) >> 23;
  return (exponent > kPower ? exponent - kPower : 1) << 23;
}

template <Element kElement>
THINWIRE_HOST_DEVICE inline std::uint32_t scale_bits(std::uint32_t largest, bool power_of_two) {
  return power_of_two ? power_of_two_scale<kElement>(largest) : bf16_scale<kElement>(largest);
}

// The scale's code as it is stored, and back.
THINWIRE_HOST_DEVICE inline std::uint32_t scale_code(std::uint32_t bits, bool power_of_two) {
  return bits >> (power_of_two ? 23 : 16);
}

THINWIRE_HOST_DEVICE inline float scale_of(std::uint32_t code, bool power_of_two) {
  if (!power_of_two) return float_of(code << 16);
  return float_of(code == 0 ? 0x00400000u : code << 23);
}

// ---- Elements ----

// Adding it rounds to a whole number, in two's complement in the low bits.
inline constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23

inline constexpr std::uint32_t kLeastNormalE4m3 = 0x3C800000u;  // 2^-6
inline constexpr std::uint32_t kE4m3Rebias = 120 << 3;
inline constexpr std::uint32_t kMostE4m3 = 0x7E;

THINWIRE_HOST_DEVICE inline std::uint32_t e4m3_of(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  std::uint32_t code;
  if (magnitude < kLeastNormalE4m3) {
    // Units of 2^-9: adding 2^14 leaves their rounded number in the low bits.
    code = bits_of(float_of(magnitude) + 16384.0f) - bits_of(16384.0f);
  } else {
    code = ((magnitude + 0x7FFFF + (magnitude >> 20 & 1)) >> 20) - kE4m3Rebias;
    if (code > kMostE4m3) code = kMostE4m3;
  }
  return code | (bits >> 24 & 0x80);
}

// The multiplication moves the exponent's bias from 7 to 127; exact, subnormals included.
THINWIRE_HOST_DEVICE inline float float_of_e4m3(std::uint32_t code) {
  return float_of((code & 0x80) << 24 | (code & 0x7F) << 20) * float_of(0x7B800000u);  // 2^120
}

// The bits that hold the element of y, the others being anything.
template <Element kElement>
THINWIRE_HOST_DEVICE inline std::uint32_t nearest(float y) {
  if constexpr (kElement == Element::kE4m3) return e4m3_of(y);
  return bits_of(y + kRounder);
}

// ---- Stochastic rounding ----

// `drawn` is of 16 bits.
THINWIRE_HOST_DEVICE inline std::uint32_t stochastic_e4m3(float value, std::uint32_t drawn) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  std::uint32_t code;
  if (magnitude < kLeastNormalE4m3) {
    code = static_cast<std::uint32_t>(float_of(magnitude) * 512.0f +
                                      static_cast<float>(drawn) * float_of(0x37800000u));  // 2^-16
  } else {
    code = ((magnitude + (drawn << 4)) >> 20) - kE4m3Rebias;
    if (code > kMostE4m3) code = kMostE4m3;
  }
  return code | (bits >> 24 & 0x80);
}

template <Element kElement>
THINWIRE_HOST_DEVICE inline std::uint32_t stochastic(float y, std::uint32_t drawn) {
  if constexpr (kElement == Element::kE4m3) return stochastic_e4m3(y, drawn);
  const float low = y > -kMost<kElement> ? y : -kMost<kElement>;
  const float clamped = low < kMost<kElement> ? low : kMost<kElement>;
  const float sum = clamped + static_cast<float>(drawn) * float_of(0x37800000u);  // 2^-16
  const int whole = static_cast<int>(sum);
  return static_cast<std::uint32_t>(whole - (sum < static_cast<float>(whole)));
}

// ---- Values ----

template <Dtype kDtype>
inline constexpr std::uint32_t kLargestBits = kDtype == Dtype::kF16    ? 0x477FE000u  // 65504
                                              : kDtype == Dtype::kBf16 ? 0x7F7F0000u
                                                                       : 0x7F7FFFFFu;

// Limits a value to the dtype's finite range; NaN becomes the lowest.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE inline float saturate(float value) {
  const float most = float_of(kLargestBits<kDtype>);
#if defined(__CUDA_ARCH__)
  return fminf(fmaxf(value, -most), most);
#else
  const float low = value > -most ? value : -most;
  return low < most ? low : most;
#endif
}

// 1 / scale, for scales of at least 2^-126.
THINWIRE_HOST_DEVICE inline float reciprocal(float scale) {
#if defined(__CUDA_ARCH__)
  return __frcp_rn(scale);
#else
  return 1.0f / scale;
#endif
}

}  // namespace thinwire::codec::blockq
