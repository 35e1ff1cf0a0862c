// Values as words of bits, on the host and on the device.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace thinwire::codec {

template <typename Word>
inline constexpr int kWordBits = 8 * sizeof(Word);

// Rotates the sign to the lowest bit, so that it does not part values around zero; and back.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word sign_to_low(Word value) {
  return static_cast<Word>(value << 1 | value >> (kWordBits<Word> - 1));
}

template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word sign_to_high(Word value) {
  return static_cast<Word>(value >> 1 | value << (kWordBits<Word> - 1));
}

// Transposition of squares of bits in words of 32, on the host and in a thread's registers: swaps
// the bits of `a` from `kDistance` up, under that mask, with those of `b` from 0 up.
template <int kDistance>
THINWIRE_HOST_DEVICE constexpr void exchange_bits(std::uint32_t& a, std::uint32_t& b,
                                                  std::uint32_t mask) {
#if defined(__CUDA_ARCH__)
  // Fewer instructions if one takes three operands, or moves whole bytes.
  std::uint32_t kept;
  if constexpr (kDistance >= 8) {
    kept = __byte_perm(a, b, kDistance == 16 ? 0x5410 : 0x6240);
    b = __byte_perm(a, b, kDistance == 16 ? 0x7632 : 0x7351);
  } else {
    kept = (a & mask) | (b << kDistance & ~mask);
    b = (b & ~mask) | (a >> kDistance & mask);
  }
  a = kept;
#else
  const std::uint32_t differ = ((a >> kDistance) ^ b) & mask;
  b ^= differ;
  a ^= differ << kDistance;
#endif
}

// One step: the square of side 2 * kDistance on every diagonal place.
template <int kDistance, int kRows>
THINWIRE_HOST_DEVICE constexpr void transpose_step(std::uint32_t (&row)[kRows]) {
  if constexpr (kDistance < kRows) {
    constexpr std::uint32_t kMask = 0xffffffffu / ((1u << kDistance) + 1);
    THINWIRE_UNROLL
    for (int block = 0; block < kRows; block += 2 * kDistance) {
      THINWIRE_UNROLL
      for (int i = 0; i < kDistance; ++i) {
        exchange_bits<kDistance>(row[block + i], row[block + i + kDistance], kMask);
      }
    }
  }
}

// Transposes the kRows x kRows bits at every multiple of kRows, 4, 16 or 32: bit i of group g of
// row j becomes bit j of group g of row i. Its own inverse.
template <int kRows>
THINWIRE_HOST_DEVICE constexpr void transpose_bits(std::uint32_t (&row)[kRows]) {
  transpose_step<16>(row);
  transpose_step<8>(row);
  transpose_step<4>(row);
  transpose_step<2>(row);
  transpose_step<1>(row);
}

}  // namespace thinwire::codec
