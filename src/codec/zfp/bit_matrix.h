// Coefficients to bit planes and back.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/word.h"
#include "codec/zfp/bits.h"
#include "codec/zfp/transform.h"

namespace thinwire::codec::zfp {

// How the planes of a block of kValues coefficients lie in kWords words. A set is what one
// transposition makes: 32 planes of up to 32 coefficients.
template <int kValues, int kPlanes>
struct PlaneLayout {
  static constexpr int kRows = kValues < 32 ? kValues : 32;
  static constexpr int kWords = kValues * kPlanes / 32;
  using Plane = std::conditional_t<kValues == 64, std::uint64_t, std::uint32_t>;
  static constexpr Plane kAll =
      static_cast<Plane>(kValues == 64 ? ~std::uint64_t{0} : (1ull << kValues % 64) - 1);

  // The word that has plane k of the first 32 coefficients, and the place of its lowest bit.
  THINWIRE_HOST_DEVICE static constexpr int word_of(int k) {
    // If there is one set only, its number need not be found.
    const int set = kPlanes > 32 ? k / 32 * kValues : 0;
    return set + (kPlanes == kRows ? k : k % kRows);
  }
  THINWIRE_HOST_DEVICE static constexpr int shift_of(int k) { return k % 32 / kRows * kRows; }
};

// Plane k; bit i is that of coefficient i. `words` has load(index).
template <typename Layout, typename Words>
THINWIRE_HOST_DEVICE inline typename Layout::Plane load_plane(const Words& words, int k) {
  const int at = Layout::word_of(k);
  if constexpr (Layout::kRows == 32) {
    return words.load(at) | static_cast<std::uint64_t>(words.load(at + 32)) << 32;
  } else {
    return words.load(at) >> Layout::shift_of(k) & Layout::kAll;
  }
}

// Sets plane k, so far 0. `words` has load(index) and store(index, word).
template <typename Layout, typename Words>
THINWIRE_HOST_DEVICE inline void add_plane(Words& words, int k, typename Layout::Plane plane) {
  const int at = Layout::word_of(k);
  if constexpr (Layout::kRows == 32) {
    words.store(at, static_cast<std::uint32_t>(plane));
    words.store(at + 32, static_cast<std::uint32_t>(plane >> 32));
  } else {
    words.store(at, words.load(at) | plane << Layout::shift_of(k));
  }
}

// Planes in an array of the caller's.
template <int kWords>
struct LocalWords {
  std::uint32_t word[kWords];

  THINWIRE_HOST_DEVICE std::uint32_t load(int index) const { return word[index]; }
  THINWIRE_HOST_DEVICE void store(int index, std::uint32_t value) { word[index] = value; }
};

// Coefficients, in negabinary and at their places in the block, to planes.
template <int kRank, typename Word, typename Words>
THINWIRE_HOST_DEVICE inline void to_planes(const Word (&block)[kBlockValues<kRank>],
                                           Words& planes) {
  constexpr int kValues = kBlockValues<kRank>;
  constexpr int kRows = PlaneLayout<kValues, 32>::kRows;
  constexpr int kSets = kValues / kRows * static_cast<int>(sizeof(Word) / 4);
  std::uint32_t row[kSets][kRows];
  for_each_coefficient<kRank>([&](auto i, auto place) {
    row[i / kRows][i % kRows] = static_cast<std::uint32_t>(block[place]);
    if constexpr (sizeof(Word) == 8) {
      row[kSets / 2 + i / kRows][i % kRows] = static_cast<std::uint32_t>(block[place] >> 32);
    }
  });
  THINWIRE_UNROLL
  for (int set = 0; set < kSets; ++set) {
    transpose_bits(row[set]);
    THINWIRE_UNROLL
    for (int i = 0; i < kRows; ++i) planes.store(set * kRows + i, row[set][i]);
  }
}

// Undoes to_planes().
template <int kRank, typename Word, typename Words>
THINWIRE_HOST_DEVICE inline void from_planes(const Words& planes,
                                             Word (&block)[kBlockValues<kRank>]) {
  constexpr int kValues = kBlockValues<kRank>;
  constexpr int kRows = PlaneLayout<kValues, 32>::kRows;
  constexpr int kSets = kValues / kRows * static_cast<int>(sizeof(Word) / 4);
  std::uint32_t row[kSets][kRows];
  THINWIRE_UNROLL
  for (int set = 0; set < kSets; ++set) {
    THINWIRE_UNROLL
    for (int i = 0; i < kRows; ++i) row[set][i] = planes.load(set * kRows + i);
    transpose_bits(row[set]);
  }
  for_each_coefficient<kRank>([&](auto i, auto place) {
    Word value = row[i / kRows][i % kRows];
    if constexpr (sizeof(Word) == 8) {
      value |= static_cast<Word>(row[kSets / 2 + i / kRows][i % kRows]) << 32;
    }
    block[place] = value;
  });
}

}  // namespace thinwire::codec::zfp
