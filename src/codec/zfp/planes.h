// ZFP's plane coder for blocks of four: bit planes from the highest down, each as the bits of the
// coefficients known to be significant and group tests for the rest (spec/codec-zfp.md, "Planes").
//
// The number n of significant coefficients only grows, so at most three planes of a block need the
// general code. With p, q, r the first plane where any of all four, of the last three, of the last
// two coefficients has a one:
//   planes above p         one 0 each
//   planes from p to q     1 bit of coefficient 0, then a 0       (n = 1)
//   planes from q to r     1 bit of coefficients 0 and 1, then a 0  (n = 2)
//   planes after r         four bits: with n = 3 the group test is the fourth
// Each stretch is moved as a whole. Within this file streams are words whose HIGHEST bit comes
// first; the caller reverses them, because a stream in memory begins with its lowest bit.
#pragma once

#include <cstdint>

#include "codec/zfp/core.h"

namespace thinwire::codec::zfp {

// ---- Tables ----

struct PlaneCode {
  std::uint8_t bits;  // the first one highest
  std::uint8_t length;
};

// Kept apart from the functions so that each build can hold them where its loads are cheapest.
// A nibble is one plane of a block, coefficient 0 in its highest bit.
struct Tables {
  PlaneCode encode[3][16];        // [n][nibble]
  std::uint8_t decode[3][7][64];  // [n][bits of budget, at most 6][next 6 bits]: nibble, length
};

// The code of one plane when n coefficients are significant already.
constexpr PlaneCode encode_plane(int n, unsigned nibble) {
  unsigned bits = 0;
  int length = 0;
  const auto put = [&](unsigned bit) { bits |= (bit & 1) << (7 - length++); };
  for (int i = 0; i < n; ++i) put(nibble >> (3 - i));
  while (n < 4) {
    const bool any = (nibble & (0xfu >> n)) != 0;
    put(any);
    if (!any) break;
    // The last coefficient needs no bit: it must be the one that the test found.
    for (; n < 3; ++n) {
      const unsigned bit = nibble >> (3 - n) & 1;
      put(bit);
      if (bit) break;
    }
    ++n;
  }
  return {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(length)};
}

// What follows a positive group test at coefficient n, when `budget` bits are left: the ones of
// coefficients n to 3 in the high four bits, the number of bits read in the low four. A search that
// the budget ends has found the coefficient where it stands.
constexpr std::uint8_t decode_found(int n, int budget, unsigned next) {
  unsigned nibble = 0;
  int length = 0;
  const auto get = [&] { return next >> (5 - length++) & 1; };
  while (true) {
    for (; n < 3 && length < budget; ++n) {
      if (get()) break;
    }
    nibble |= 8u >> n;
    ++n;
    if (n == 4 || length == budget || !get()) break;
  }
  return static_cast<std::uint8_t>(nibble << 4 | static_cast<unsigned>(length));
}

constexpr Tables make_tables() {
  Tables tables{};
  for (int n = 0; n < 3; ++n) {
    for (unsigned nibble = 0; nibble < 16; ++nibble) {
      tables.encode[n][nibble] = encode_plane(n, nibble);
    }
    for (int budget = 0; budget < 7; ++budget) {
      for (unsigned next = 0; next < 64; ++next) {
        tables.decode[n][budget][next] = decode_found(n, budget, next);
      }
    }
  }
  return tables;
}

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

THINWIRE_HOST_DEVICE constexpr int smaller(int a, int b) { return a < b ? a : b; }

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

// ---- Pairs to triples and back: 21 pairs, and a zero behind each ----

// The bits of those pairs i, counted from the low end, for which i / group is even (half 0) or odd
// (half 1), in a word where runs of 2 * group pairs begin every 6 * group bits.
constexpr std::uint64_t pairs_mask(int group, int half) {
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
constexpr Word third_bits() {
  Word mask = 0;
  for (int bit = kBits<Word> - 3; bit >= 0; bit -= 3) mask |= Word{1} << bit;
  return mask;
}

// ---- The coder ----

// The plane stream of a block, cut off at the end of the word. Its lowest eight bits are undefined.
template <typename Word>
THINWIRE_HOST_DEVICE inline Word encode_planes(const Tables& tables, const Block& u,
                                               const Planes& planes) {
  constexpr int kLast = kBits<Word> - 1;
  const int p = leading_zeros(u.x | u.y | u.z | u.w);
  const int q = leading_zeros(u.y | u.z | u.w);
  const int r = leading_zeros(u.z | u.w);

  // Plane p, where coefficient 0 appears alone, is 1 1 0.
  const Word run1 = from_top<Word>(shift_left_twice(planes.pairs, p) << 1 << 1);
  const int length1 = p < q ? 2 * (q - p) + 1 : 0;
  const Word part1 = keep_top<Word>(from_top<Word>(std::uint64_t{6} << 61) | run1 >> 3, length1);

  // Plane q, where coefficient 1 appears and the last two do not.
  const std::uint64_t pairs = shift_left_twice(planes.pairs, q < 31 ? q : 31);
  const PlaneCode code2 = tables.encode[p < q ? 1 : 0][pairs >> 62 << 2];
  const Word run2 = triples_of<Word>(pairs << 2);
  const int length2 = q < r ? code2.length + 3 * (r - q - 1) : 0;
  const Word part2 = keep_top<Word>(
      from_top<Word>(std::uint64_t{code2.bits} << 56) | run2 >> code2.length, length2);

  // Plane r and all that follow it.
  const Uint128 nibbles = shift_left_twice(Uint128{planes.high} << 64 | planes.low, 2 * r);
  const Word rest = static_cast<Word>(nibbles >> (128 - kBits<Word>));
  const int n = q < r ? 2 : p < q ? 1 : 0;
  const PlaneCode code3 = tables.encode[n][static_cast<unsigned>(rest >> (kBits<Word> - 4))];
  const Word part3 = from_top<Word>(std::uint64_t{code3.bits} << 56) |
                     static_cast<Word>(rest << 4) >> code3.length;

  const int start2 = smaller(p + length1, kLast);
  const int start3 = smaller(start2 + length2, kLast);
  return part1 >> p | part2 >> start2 | part3 >> start3;
}

// The planes of a stream of `budget` bits; all bits of `stream` behind them must be 0, and budget
// is at most kBits - 9. Any bits are a stream.
template <typename Word>
THINWIRE_HOST_DEVICE inline Planes decode_planes(const Tables& tables, Word stream, int budget) {
  constexpr int kLast = kBits<Word> - 1;
  const auto found = [&](int n, Word next, int left) {
    const int kept = left < 0 ? 0 : smaller(left, 6);
    return tables.decode[n][kept][top_of(next) >> 58];
  };
  Planes planes{};

  // Planes from 32 on do not exist: what a stream holds for them is shifted out below.
  const int zeros = leading_zeros(stream);
  const int p = smaller(zeros, kPlanes);
  const std::uint8_t first = found(0, stream << p << 1, budget - p - 1);
  unsigned nibble = first >> 4;
  int at = p + 1 + (first & 15);

  int q = p;
  if (nibble == 8) {
    const Word run = stream << at;
    const int length = leading_zeros(top_of(run) & 0x5555555555555555) / 2;
    const std::uint64_t bits = keep_top(top_of(run), 2 * length);
    planes.pairs = shift_right_twice(std::uint64_t{1} << 63 | bits >> 2, p);
    const Word plane = shift_left_twice(run, length);
    at = smaller(at + 2 * length, kLast);
    const std::uint8_t more = found(1, plane << 2, budget - at - 2);
    nibble = static_cast<unsigned>(top_of(plane) >> 63 << 3) | more >> 4;
    at = smaller(at + 2 + (more & 15), kLast);
    q = smaller(p + 1 + length, kPlanes);
  }

  int r = q;
  if ((nibble & 7) == 4) {
    const Word run = stream << at;
    const Word tests = run & third_bits<Word>();
    const int length = tests != 0 ? leading_zeros(tests) / 3 : kPlanes;
    const std::uint64_t bits = pairs_of(keep_top(run, 3 * length));
    planes.pairs |= shift_right_twice(std::uint64_t{nibble} << 60 | bits >> 2, q);
    const Word plane = static_cast<Word>(run << smaller(3 * length, kLast));
    at = smaller(at + 3 * length, kLast);
    const std::uint8_t more = found(2, plane << 3, budget - at - 3);
    nibble = static_cast<unsigned>(top_of(plane) >> 62 << 2) | more >> 4;
    at = smaller(at + 3 + (more & 15), kLast);
    r = smaller(q + 1 + length, kPlanes);
  }

  const Word rest =
      from_top<Word>(std::uint64_t{nibble} << 60) | static_cast<Word>(stream << at) >> 4;
  const Uint128 nibbles = shift_right_twice(Uint128{rest} << (128 - kBits<Word>), 2 * r);
  planes.high = static_cast<std::uint64_t>(nibbles >> 64);
  planes.low = static_cast<std::uint64_t>(nibbles);
  return planes;
}

}  // namespace thinwire::codec::zfp
