// ZFP's plane coder for blocks of four: bit planes from the highest down, each as the bits of the
// coefficients known to be significant and group tests for the rest (spec/codec-zfp.md, "Planes").
//
// The number n of significant coefficients only grows, so at most three planes of a block need the
// general code. With p, q, r the first plane where any of all four, of the last three, of the last
// two coefficients has a one:
//   before p          0                                        n = 0
//   between p and q   the bit of coefficient 0, then 0         n = 1
//   between q and r   the bits of coefficients 0 and 1, then 0  n = 2
//   after r           the four bits: with n = 3 the group test is the fourth
// Each stretch is moved as a whole. Within this file streams are words whose HIGHEST bit comes
// first; the caller reverses them, because a stream in memory begins with its lowest bit.
#pragma once

#include <cstdint>

#include "codec/zfp/line_bits.h"
#include "codec/zfp/line_tables.h"

namespace thinwire::codec::zfp {

// The plane stream of a block, cut off at the end of the word. Its lowest bit is undefined.
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

// The state of a decoder between two stretches of a stream.
template <typename Word>
struct DecodeState {
  const Tables& tables;
  Word stream;
  int budget;           // bits of `stream`; all after them are 0
  int at = 0;           // bits read, at most kBits - 1
  int plane = 0;        // the one that `nibble` is of, 32 when the planes have ended
  unsigned nibble = 0;  // a plane that was read and is not stored yet
  std::uint64_t pairs = 0;

  // Looks up the result of a positive test for coefficient n after which `read` bits have been
  // read; `next` begins after the test.
  THINWIRE_HOST_DEVICE std::uint8_t found(int n, Word next, int read) const {
    const int left = budget - read;
    return tables.decode[n][left < 0 ? 0 : smaller(left, 6)][top_of(next) >> 58];
  }
};

// Stores the plane where coefficient 0 appeared alone and those up to the next positive test, for
// coefficient 1, whose plane becomes the current one.
template <typename Word>
THINWIRE_HOST_DEVICE inline void decode_singles(DecodeState<Word>& state) {
  constexpr int kLast = kBits<Word> - 1;
  const Word run = state.stream << state.at;
  const int length = leading_zeros(top_of(run) & 0x5555555555555555) / 2;
  const std::uint64_t bits = keep_top(top_of(run), 2 * length);
  state.pairs = shift_right_twice(std::uint64_t{1} << 63 | bits >> 2, state.plane);

  const Word next = shift_left_twice(run, length);
  const int tested = state.at + 2 * length + 2;
  const std::uint8_t more = state.found(1, next << 2, tested);
  state.nibble = static_cast<unsigned>(top_of(next) >> 63 << 3) | more >> 4;
  state.at = smaller(tested + (more & 15), kLast);
  state.plane = smaller(state.plane + 1 + length, kPlanes);
}

// The same from the plane where coefficient 1 appeared to the test for coefficient 2.
template <typename Word>
THINWIRE_HOST_DEVICE inline void decode_pairs(DecodeState<Word>& state) {
  constexpr int kLast = kBits<Word> - 1;
  const Word run = state.stream << state.at;
  constexpr Word kTests = third_bits<Word>();
  const Word tests = run & kTests;
  const int length = tests != 0 ? leading_zeros(tests) / 3 : kPlanes;
  const std::uint64_t bits = pairs_of(keep_top(run, 3 * length));
  state.pairs |= shift_right_twice(std::uint64_t{state.nibble} << 60 | bits >> 2, state.plane);

  const Word next = static_cast<Word>(run << smaller(3 * length, kLast));
  const int tested = state.at + 3 * length + 3;
  const std::uint8_t more = state.found(2, next << 3, tested);
  state.nibble = static_cast<unsigned>(top_of(next) >> 62 << 2) | more >> 4;
  state.at = smaller(tested + (more & 15), kLast);
  state.plane = smaller(state.plane + 1 + length, kPlanes);
}

// Decodes the planes of a stream of `budget` bits, at most kBits - 9; all bits of `stream` after
// them must be 0. Any bits are a stream: those of planes from 32 on are shifted out.
template <typename Word>
THINWIRE_HOST_DEVICE inline Planes decode_planes(const Tables& tables, Word stream, int budget) {
  DecodeState<Word> state{.tables = tables, .stream = stream, .budget = budget};
  state.plane = smaller(leading_zeros(stream), kPlanes);
  const int tested = state.plane + 1;
  const std::uint8_t first = state.found(0, stream << state.plane << 1, tested);
  state.nibble = first >> 4;
  state.at = tested + (first & 15);
  if (state.nibble == 8) decode_singles(state);
  if ((state.nibble & 7) == 4) decode_pairs(state);

  const Word rest = from_top<Word>(std::uint64_t{state.nibble} << 60) |
                    static_cast<Word>(stream << state.at) >> 4;
  const Uint128 nibbles = shift_right_twice(Uint128{rest} << (128 - kBits<Word>), 2 * state.plane);
  return {.high = static_cast<std::uint64_t>(nibbles >> 64),
          .low = static_cast<std::uint64_t>(nibbles),
          .pairs = state.pairs};
}

}  // namespace thinwire::codec::zfp
