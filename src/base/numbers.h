// Values as words of bits and as the numbers that are computed with: the same bits on host and
// device.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/dtype.h"
#include "base/host_device.h"

namespace thinwire {

// bf16 and fp16 as bits, to fp32 and back.

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
#if defined(__CUDACC__) && defined(__CUDA_ARCH__)
  float number;
  asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(bits));
  // The instruction does not keep all bits of a NaN.
  const float same = float_of(sign | 0x7F800000u | (magnitude & 0x3FF) << 13);
  return magnitude > 0x7C00 ? same : number;
#endif
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
#if defined(__CUDACC__) && defined(__CUDA_ARCH__)
  std::uint16_t rounded;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
  return rounded;
#endif
  if (magnitude >= 0x47800000u) return sign | 0x7C00;  // 65536 and more
  if (magnitude < 0x38800000u) {                       // below the normal range: units of 2^-24
    // Adding 0.5 leaves the rounded count of units in the low bits of the sum.
    const std::uint32_t sum = bits_of(float_of(magnitude) + 0.5f);
    return sign | static_cast<std::uint16_t>(sum - 0x3F000000u);
  }
  const std::uint32_t rebiased = magnitude - 0x38000000u;
  return sign | static_cast<std::uint16_t>((rebiased + 0xFFF + (rebiased >> 13 & 1)) >> 13);
}

// The bits of one value.
template <Dtype kDtype>
using WordOf = std::conditional_t<
    kDtype == Dtype::kF64, std::uint64_t,
    std::conditional_t<kDtype == Dtype::kF32, std::uint32_t,
                       std::conditional_t<dtype_size(kDtype) == 1, std::uint8_t, std::uint16_t>>>;

THINWIRE_HOST_DEVICE inline double double_of(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return std::bit_cast<double>(bits);
#endif
}

THINWIRE_HOST_DEVICE inline std::uint64_t bits_of(double value) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint64_t>(__double_as_longlong(value));
#else
  return std::bit_cast<std::uint64_t>(value);
#endif
}

// The numbers that values are added as: 16-bit types as fp32.
template <Dtype kDtype>
using NumberOf = std::conditional_t<kDtype == Dtype::kF64, double, float>;

template <Dtype kDtype>
THINWIRE_HOST_DEVICE NumberOf<kDtype> number_of(WordOf<kDtype> word) {
  if constexpr (kDtype == Dtype::kF64) return double_of(word);
  if constexpr (kDtype == Dtype::kF32) return float_of(word);
  if constexpr (kDtype == Dtype::kF16) return float_of_f16(word);
  if constexpr (kDtype == Dtype::kBf16) return float_of_bf16(word);
  return 0;
}

// Rounded to the type; a NaN is always the same one, because processors differ in theirs.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE WordOf<kDtype> word_of(NumberOf<kDtype> number) {
  if constexpr (kDtype == Dtype::kF64) {
    return number != number ? 0x7FF8000000000000u : bits_of(number);
  }
  if constexpr (kDtype == Dtype::kF32) {
    return number != number ? 0x7FC00000u : bits_of(number);
  }
  if constexpr (kDtype == Dtype::kF16) return f16_of(number);
  if constexpr (kDtype == Dtype::kBf16) return bf16_of(number);
  return 0;
}

// A NaN; of types that are added, the one that word_of() makes.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE WordOf<kDtype> nan_word() {
  if constexpr (!is_added(kDtype)) return 0x7F;  // of both 8-bit types
  return word_of<kDtype>(number_of<kDtype>(static_cast<WordOf<kDtype>>(~WordOf<kDtype>{0})));
}

}  // namespace thinwire
