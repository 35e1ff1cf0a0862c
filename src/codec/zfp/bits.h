// Single words of bits, on the host and on the device.
#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.h"

namespace thinwire::codec::zfp {

THINWIRE_HOST_DEVICE constexpr int smaller(int a, int b) { return a < b ? a : b; }

// The lowest `count` bits, 0 or more.
THINWIRE_HOST_DEVICE constexpr std::uint64_t low_bits_mask(int count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// The number of zeros above the highest one; 64 for 0.
THINWIRE_HOST_DEVICE inline int leading_zeros(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return __clzll(static_cast<long long>(word));
#else
  return std::countl_zero(word);
#endif
}

// As above on 32 bits; the form spares a test for zero if there is no instruction that has one.
THINWIRE_HOST_DEVICE inline int leading_zeros(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return __clz(static_cast<int>(word));
#else
  return leading_zeros((std::uint64_t{word} << 1) | 1) - 31;
#endif
}

// The number of zeros below the lowest one of `word`, which is not 0.
THINWIRE_HOST_DEVICE inline int trailing_zeros(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(word)) - 1;
#else
  return std::countr_zero(word);
#endif
}

THINWIRE_HOST_DEVICE inline int trailing_zeros(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return __ffs(static_cast<int>(word)) - 1;
#else
  return std::countr_zero(word);
#endif
}

THINWIRE_HOST_DEVICE inline std::uint64_t reverse_bits(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return __brevll(word);
#else
  word = ((word >> 1) & 0x5555555555555555) | ((word & 0x5555555555555555) << 1);
  word = ((word >> 2) & 0x3333333333333333) | ((word & 0x3333333333333333) << 2);
  word = ((word >> 4) & 0x0f0f0f0f0f0f0f0f) | ((word & 0x0f0f0f0f0f0f0f0f) << 4);
  return __builtin_bswap64(word);
#endif
}

}  // namespace thinwire::codec::zfp
