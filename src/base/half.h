// bf16 and fp16 as bits, to fp32 and back; the same on host and device.
#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.h"

namespace thinwire {

THINWIRE_HOST_DEVICE inline float float_of(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

THINWIRE_HOST_DEVICE inline std::uint32_t bits_of(float value) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(value);
#else
  return std::bit_cast<std::uint32_t>(value);
#endif
}

THINWIRE_HOST_DEVICE inline float float_of_bf16(std::uint16_t bits) {
  return float_of(static_cast<std::uint32_t>(bits) << 16);
}

// Rounds to nearest, ties to even; NaN becomes the quiet one without a sign.
THINWIRE_HOST_DEVICE inline std::uint16_t bf16_of(float value) {
  const std::uint32_t bits = bits_of(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FC0;
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

THINWIRE_HOST_DEVICE inline float float_of_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t magnitude = bits & 0x7FFFu;
  if (magnitude >= 0x7C00) return float_of(sign | 0x7F800000u | (magnitude & 0x3FF) << 13);
  // The scaling is exact, subnormals included: 2^112 moves the exponent's bias from 15 to 127.
  const float scaled = float_of(magnitude << 13) * float_of(0x77800000u);
  return float_of(sign | bits_of(scaled));
}

// Rounds to nearest, ties to even; NaN becomes the quiet one without a sign.
THINWIRE_HOST_DEVICE inline std::uint16_t f16_of(float value) {
  const std::uint32_t bits = bits_of(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return 0x7E00;
  if (magnitude >= 0x47800000u) return sign | 0x7C00;  // 65536 and more
  if (magnitude < 0x38800000u) {                       // below the normal range: units of 2^-24
    // Adding 0.5 leaves the rounded count of units in the low bits of the sum.
    const std::uint32_t sum = bits_of(float_of(magnitude) + 0.5f);
    return sign | static_cast<std::uint16_t>(sum - 0x3F000000u);
  }
  const std::uint32_t rebiased = magnitude - 0x38000000u;
  return sign | static_cast<std::uint16_t>((rebiased + 0xFFF + (rebiased >> 13 & 1)) >> 13);
}

}  // namespace thinwire
