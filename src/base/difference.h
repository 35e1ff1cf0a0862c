// The arithmetic of differences between values and those of earlier on, for the host and the
// device; spec/delta.md defines it.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace thinwire {

// `word` - `reference` as an integer whose sign is its lowest bit: 0, -1, 1, -2, ... become
// 0, 1, 2, 3, ...
template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word folded_difference(Word word, Word reference) {
  constexpr int kSign = 8 * sizeof(Word) - 1;
  const Word difference = static_cast<Word>(word - reference);
  const Word sign = static_cast<Word>(-static_cast<Word>(difference >> kSign));
  return static_cast<Word>(static_cast<Word>(difference << 1) ^ sign);
}

// The word that `folded` was made of.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word unfolded_sum(Word folded, Word reference) {
  const Word sign = static_cast<Word>(-static_cast<Word>(folded & 1));
  const Word difference = static_cast<Word>(static_cast<Word>(folded >> 1) ^ sign);
  return static_cast<Word>(reference + difference);
}

// How many bits a word has beyond its leading zeros.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr int bits_in(Word word) {
  int bits = 0;
  auto rest = static_cast<std::uint64_t>(word);
  for (int step = 32; step > 0; step /= 2) {
    if (rest >> step == 0) continue;
    rest >>= step;
    bits += step;
  }
  return bits + static_cast<int>(rest);
}

}  // namespace thinwire
