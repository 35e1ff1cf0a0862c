// Values as words of bits and as the numbers that are computed with: the same bits on host and
// device.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/dtype.h"
#include "base/half.h"

namespace thinwire {

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
