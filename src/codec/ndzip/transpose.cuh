// Squares of 32 x 32 bits transposed by one thread; ndzip/core.h has the same for the host.
#pragma once

#include <cstdint>

namespace thinwire::codec::ndzip {

template <int kWidth>
__device__ inline void exchange_shifted(std::uint32_t (&words)[32]) {
  constexpr std::uint32_t kMask = 0xFFFFFFFFu / ((1u << kWidth) + 1);
#pragma unroll
  for (int pair = 0; pair < 16; ++pair) {
    const int row = pair / kWidth * 2 * kWidth + pair % kWidth;
    std::uint32_t& low = words[row];
    std::uint32_t& high = words[row + kWidth];
    const std::uint32_t first = (low & kMask) | (high << kWidth & ~kMask);
    high = (low >> kWidth & kMask) | (high & ~kMask);
    low = first;
  }
}

__device__ inline void exchange_bytes(std::uint32_t (&words)[32]) {
#pragma unroll
  for (int pair = 0; pair < 16; ++pair) {
    const int row = pair / 8 * 16 + pair % 8;
    const std::uint32_t first = __byte_perm(words[row], words[row + 8], 0x6240);
    words[row + 8] = __byte_perm(words[row], words[row + 8], 0x7351);
    words[row] = first;
  }
}

__device__ inline void exchange_halves(std::uint32_t (&words)[32], unsigned first,
                                       unsigned second) {
#pragma unroll
  for (int row = 0; row < 16; ++row) {
    const std::uint32_t low = words[row];
    words[row] = __byte_perm(low, words[row + 16], first);
    words[row + 16] = __byte_perm(low, words[row + 16], second);
  }
}

// Bit i of word L and bit L of word i change places. Where `swapped`, words 0 to 15 come in place
// of words 16 to 31, or go there: which does not cost anything.
__device__ inline void transpose_from(std::uint32_t (&words)[32], bool swapped) {
  exchange_halves(words, swapped ? 0x1054 : 0x5410, swapped ? 0x3276 : 0x7632);
  exchange_bytes(words);
  exchange_shifted<4>(words);
  exchange_shifted<2>(words);
  exchange_shifted<1>(words);
}

__device__ inline void transpose_to(std::uint32_t (&words)[32], bool swapped) {
  exchange_shifted<1>(words);
  exchange_shifted<2>(words);
  exchange_shifted<4>(words);
  exchange_bytes(words);
  exchange_halves(words, swapped ? 0x7632 : 0x5410, swapped ? 0x5410 : 0x7632);
}

}  // namespace thinwire::codec::ndzip
