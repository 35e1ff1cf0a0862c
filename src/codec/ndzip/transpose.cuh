// Squares of 32 x 32 bits transposed by one thread, as transpose_bits() does, their halves swapped
// on the way where that is wanted.
#pragma once

#include "codec/word.h"

namespace thinwire::codec::ndzip {

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
  transpose_step<8>(words);
  transpose_step<4>(words);
  transpose_step<2>(words);
  transpose_step<1>(words);
}

__device__ inline void transpose_to(std::uint32_t (&words)[32], bool swapped) {
  transpose_step<1>(words);
  transpose_step<2>(words);
  transpose_step<4>(words);
  transpose_step<8>(words);
  exchange_halves(words, swapped ? 0x7632 : 0x5410, swapped ? 0x5410 : 0x7632);
}

}  // namespace thinwire::codec::ndzip
