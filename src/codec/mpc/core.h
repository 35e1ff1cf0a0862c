// MPC's arithmetic: everything that defines bytes. Host and device code; no containers, no
// allocation. See spec/codec-mpc.md.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace thinwire::codec::mpc {

inline constexpr int kUnitValues = 1024;
inline constexpr int kChunkUnits = 4;
inline constexpr int kChunkValues = kChunkUnits * kUnitValues;
inline constexpr int kMaxStride = 32;

template <typename Word>
inline constexpr int kWordBits = 8 * sizeof(Word);

// Words that a unit of `values` values becomes.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr int unit_words(int values) {
  return (values + kWordBits<Word> - 1) / kWordBits<Word> * kWordBits<Word>;
}

// Bytes of the bitmaps of `values` values in one chunk. Units but the last are whole, and a whole
// one is a whole number of groups, so the chunk can be counted in one.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr std::uint64_t bitmap_bytes(std::uint64_t values) {
  const std::uint64_t bits = kWordBits<Word>;
  return (values + bits - 1) / bits * sizeof(Word);
}

// One step of transposing a group: exchanges the blocks of `width` x `width` bits off the diagonal
// between word `low` and the word `width` below it.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr void exchange_blocks(Word& low, Word& high, int width, Word mask) {
  const Word moved = ((low >> width) ^ high) & mask;
  high ^= moved;
  low ^= moved << width;
}

// Transposes W words in place: bit i of word L and bit L of word i change places.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr void transpose(Word* words) {
  Word mask = static_cast<Word>(~Word{0});
  for (int width = kWordBits<Word> / 2; width > 0; width /= 2) {
    mask ^= static_cast<Word>(mask << width);
    for (int base = 0; base < kWordBits<Word>; base += 2 * width) {
      for (int row = base; row < base + width; ++row) {
        exchange_blocks(words[row], words[row + width], width, mask);
      }
    }
  }
}

}  // namespace thinwire::codec::mpc
