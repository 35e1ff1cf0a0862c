// Moving the bits of a block between coefficients, planes and the fixed patterns of its stream.
// Streams are words whose HIGHEST bit comes first.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/zfp/bits.h"

namespace thinwire::codec::zfp {

__extension__ typedef unsigned __int128 Uint128;

inline constexpr int kLineValues = 4;
inline constexpr int kPlanes = 32;

// The coefficients of a block.
struct Block {
  std::uint32_t x, y, z, w;
};

// ---- Words: 64 bits for blocks of up to 64 bits, 128 for larger ones ----

template <typename Word>
inline constexpr int kBits = static_cast<int>(sizeof(Word) * 8);

// A word whose highest bits are those of `top`.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word from_top(std::uint64_t top) {
  return static_cast<Word>(Word{top} << (kBits<Word> - 64));
}

template <typename Word>
THINWIRE_HOST_DEVICE constexpr std::uint64_t top_of(Word word) {
  return static_cast<std::uint64_t>(word >> (kBits<Word> - 64));
}

// The highest `count` bits of `word`, 0 <= count; all but perhaps the lowest from kBits - 1 on.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word keep_top(Word word, int count) {
  const int kept = count < kBits<Word> - 1 ? count : kBits<Word> - 1;
  return word & ~static_cast<Word>(~Word{0} >> kept);
}

// Shifts by twice `count`, 0 <= count <= kBits / 2: to nothing at the upper end.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word shift_left_twice(Word word, int count) {
  return static_cast<Word>(word << count) << count;
}

template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word shift_right_twice(Word word, int count) {
  return static_cast<Word>(word >> count) >> count;
}

THINWIRE_HOST_DEVICE inline int leading_zeros(Uint128 word) {
  const int high = leading_zeros(top_of(word));
  return high < 64 ? high : 64 + leading_zeros(static_cast<std::uint64_t>(word));
}

// ---- Coefficients to planes and back ----

// Swaps the bits of `word` under `mask` with those `distance` above them.
THINWIRE_HOST_DEVICE constexpr std::uint64_t swap_bits(std::uint64_t word, std::uint64_t mask,
                                                       int distance) {
  const std::uint64_t differ = (word ^ (word >> distance)) & mask;
  return word ^ differ ^ (differ << distance);
}

// Four lanes of 16 bits to 16 nibbles: a 4x4 transposition of nibbles, then one of bits in each.
THINWIRE_HOST_DEVICE constexpr std::uint64_t lanes_to_nibbles(std::uint64_t word) {
  word = swap_bits(word, 0x00000000ff00ff00, 24);
  word = swap_bits(word, 0x0000f0f00000f0f0, 12);
  word = swap_bits(word, 0x00cc00cc00cc00cc, 6);
  return swap_bits(word, 0x0a0a0a0a0a0a0a0a, 3);
}

THINWIRE_HOST_DEVICE constexpr std::uint64_t nibbles_to_lanes(std::uint64_t word) {
  word = swap_bits(word, 0x0a0a0a0a0a0a0a0a, 3);
  word = swap_bits(word, 0x00cc00cc00cc00cc, 6);
  word = swap_bits(word, 0x0000f0f00000f0f0, 12);
  return swap_bits(word, 0x00000000ff00ff00, 24);
}

// Bit i to bit 2i.
THINWIRE_HOST_DEVICE constexpr std::uint64_t spread(std::uint32_t value) {
  std::uint64_t word = value;
  word = (word | word << 16) & 0x0000ffff0000ffff;
  word = (word | word << 8) & 0x00ff00ff00ff00ff;
  word = (word | word << 4) & 0x0f0f0f0f0f0f0f0f;
  word = (word | word << 2) & 0x3333333333333333;
  return (word | word << 1) & 0x5555555555555555;
}

// Bit 2i to bit i.
THINWIRE_HOST_DEVICE constexpr std::uint32_t gather(std::uint64_t word) {
  word &= 0x5555555555555555;
  word = (word | word >> 1) & 0x3333333333333333;
  word = (word | word >> 2) & 0x0f0f0f0f0f0f0f0f;
  word = (word | word >> 4) & 0x00ff00ff00ff00ff;
  word = (word | word >> 8) & 0x0000ffff0000ffff;
  return static_cast<std::uint32_t>(word | word >> 16);
}

// The planes of a block: all four coefficients, and once more the first two alone.
struct Planes {
  std::uint64_t high;   // nibbles of planes 0 to 15, plane 0 (the sign end) highest
  std::uint64_t low;    // nibbles of planes 16 to 31
  std::uint64_t pairs;  // the bits of coefficients 0 and 1, plane by plane
};

THINWIRE_HOST_DEVICE constexpr Planes to_planes(const Block& u) {
  const auto lanes = [](std::uint64_t x, std::uint64_t y, std::uint64_t z, std::uint64_t w) {
    return x << 48 | y << 32 | z << 16 | w;
  };
  return {
      .high = lanes_to_nibbles(lanes(u.x >> 16, u.y >> 16, u.z >> 16, u.w >> 16)),
      .low = lanes_to_nibbles(lanes(u.x & 0xffff, u.y & 0xffff, u.z & 0xffff, u.w & 0xffff)),
      .pairs = spread(u.x) << 1 | spread(u.y),
  };
}

THINWIRE_HOST_DEVICE constexpr Block from_planes(const Planes& planes) {
  const std::uint64_t high = nibbles_to_lanes(planes.high);
  const std::uint64_t low = nibbles_to_lanes(planes.low);
  const auto lane = [&](int shift) {
    return static_cast<std::uint32_t>((high >> shift & 0xffff) << 16 | (low >> shift & 0xffff));
  };
  return {.x = lane(48) | gather(planes.pairs >> 1),
          .y = lane(32) | gather(planes.pairs),
          .z = lane(16),
          .w = lane(0)};
}

// ---- Pairs to triples and back: 21 pairs, and a zero after each ----

// The bits of those pairs i, counted from the low end, for which i / group is even (half 0) or odd
// (half 1), in a word where runs of 2 * group pairs begin every 6 * group bits.
THINWIRE_HOST_DEVICE constexpr std::uint64_t pairs_mask(int group, int half) {
  std::uint64_t mask = 0;
  for (int i = 0; i < 21; ++i) {
    if (i / group % 2 == half)
      mask |= std::uint64_t{3} << (i / (2 * group) * 6 * group + i % (2 * group) * 2);
  }
  return mask;
}

template <int kGroup>
THINWIRE_HOST_DEVICE constexpr std::uint64_t part_pairs(std::uint64_t word) {
  constexpr std::uint64_t kStay = pairs_mask(kGroup, 0);
  constexpr std::uint64_t kMove = pairs_mask(kGroup, 1);
  return (word & kStay) | (word & kMove) << kGroup;
}

template <int kGroup>
THINWIRE_HOST_DEVICE constexpr std::uint64_t close_pairs(std::uint64_t word) {
  constexpr std::uint64_t kStay = pairs_mask(kGroup, 0);
  constexpr std::uint64_t kMove = pairs_mask(kGroup, 1);
  return (word & kStay) | (word >> kGroup & kMove);
}

THINWIRE_HOST_DEVICE constexpr std::uint64_t pairs_to_triples(std::uint64_t pairs) {
  std::uint64_t word = part_pairs<16>(pairs >> 22);
  word = part_pairs<8>(word);
  word = part_pairs<4>(word);
  word = part_pairs<2>(word);
  return part_pairs<1>(word) << 2;
}

THINWIRE_HOST_DEVICE constexpr std::uint64_t triples_to_pairs(std::uint64_t triples) {
  std::uint64_t word = close_pairs<1>(triples >> 2);
  word = close_pairs<2>(word);
  word = close_pairs<4>(word);
  word = close_pairs<8>(word);
  return close_pairs<16>(word) << 22;
}

// The same over all that a word holds: 21 triples in 64 bits, 32 in 128.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word triples_of(std::uint64_t pairs) {
  Word word = from_top<Word>(pairs_to_triples(pairs));
  if constexpr (kBits<Word> == 128) word |= Word{pairs_to_triples(pairs << 42)} << 1;
  return word;
}

template <typename Word>
THINWIRE_HOST_DEVICE constexpr std::uint64_t pairs_of(Word triples) {
  std::uint64_t pairs = triples_to_pairs(top_of(triples));
  if constexpr (kBits<Word> == 128) {
    pairs |= triples_to_pairs(static_cast<std::uint64_t>(triples >> 1)) >> 42;
  }
  return pairs;
}

// The third bit of every triple.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word third_bits() {
  Word mask = 0;
  for (int bit = kBits<Word> - 3; bit >= 0; bit -= 3) mask |= Word{1} << bit;
  return mask;
}

}  // namespace thinwire::codec::zfp
