// Coefficients to bit planes and back: a transposition of bits, on words of 32 bits.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/zfp/bits.h"
#include "codec/zfp/transform.h"

namespace thinwire::codec::zfp {

// Swaps the bits of `a` from `kDistance` up, under that mask, with those of `b` from 0 up.
template <int kDistance>
THINWIRE_HOST_DEVICE constexpr void exchange_bits(std::uint32_t& a, std::uint32_t& b,
                                                  std::uint32_t mask) {
#if defined(__CUDA_ARCH__)
  // Fewer instructions where one takes three operands, or moves whole bytes.
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
  THINWIRE_HOST_DEVICE static constexpr int word_of(int k) { return k / 32 * kValues + k % kRows; }
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
