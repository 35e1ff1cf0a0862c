// MPC's stages on groups of W words by one warp; spec/codec-mpc.md. W = 32 or 64: of each group a
// lane holds word `lane`, and of 64-bit words also word `lane` + 32.
//
// Every stage takes several groups at once and does each of its steps for all of them: a shuffle
// takes tens of cycles, and the next one need not wait where it belongs to another group.
#pragma once

#include <cstdint>

#include "codec/mpc/core.h"

namespace thinwire::codec::mpc {

inline constexpr unsigned kAllLanes = 0xffffffffu;

// Words of a group in a lane.
template <typename Word>
inline constexpr int kLaneWords = kWordBits<Word> / 32;

// Groups at once: eight squares of 32 x 32 bits.
template <typename Word>
inline constexpr int kBatch = 8 / (kLaneWords<Word> * kLaneWords<Word>);

template <typename Word>
inline constexpr int kBatchWords = kBatch<Word> * kLaneWords<Word>;

// Transposes squares of 32 words of 32 bits, a word of each in every lane.
template <int kSquares>
__device__ void transpose_squares(std::uint32_t (&rows)[kSquares], unsigned lane) {
#pragma unroll
  for (int width = 16; width > 0; width /= 2) {
    // The columns whose number lacks this bit.
    const std::uint32_t columns = 0xffffffffu / ((1u << width) + 1);
    const bool low = (lane & width) == 0;
    const std::uint32_t kept = low ? columns : ~columns;
    const int turn = low ? width : 32 - width;
    std::uint32_t other[kSquares];
#pragma unroll
    for (int at = 0; at < kSquares; ++at) other[at] = __shfl_xor_sync(kAllLanes, rows[at], width);
#pragma unroll
    for (int at = 0; at < kSquares; ++at) {
      const std::uint32_t moved = __funnelshift_l(other[at], other[at], turn);
      rows[at] = (rows[at] & kept) | (moved & ~kept);
    }
  }
}

__device__ inline void transpose(std::uint32_t (&words)[kBatchWords<std::uint32_t>],
                                 unsigned lane) {
  transpose_squares(words, lane);
}

// Each group as four squares, of which the two off the diagonal change places.
__device__ inline void transpose(std::uint64_t (&words)[kBatchWords<std::uint64_t>],
                                 unsigned lane) {
  std::uint32_t squares[2 * kBatchWords<std::uint64_t>];
#pragma unroll
  for (int at = 0; at < kBatchWords<std::uint64_t>; ++at) {
    squares[2 * at] = static_cast<std::uint32_t>(words[at]);
    squares[2 * at + 1] = static_cast<std::uint32_t>(words[at] >> 32);
  }
  transpose_squares(squares, lane);
#pragma unroll
  for (int at = 0; at < kBatchWords<std::uint64_t>; at += 2) {
    words[at] = squares[2 * at] | std::uint64_t{squares[2 * at + 2]} << 32;
    words[at + 1] = squares[2 * at + 1] | std::uint64_t{squares[2 * at + 3]} << 32;
  }
}

// Every word less the one before it; `before` stands before the first, and becomes the last.
template <typename Word>
__device__ void subtract_neighbours(Word (&words)[kBatchWords<Word>], unsigned lane, Word& before) {
  Word left[kBatchWords<Word>];
  Word last[kBatchWords<Word>];
#pragma unroll
  for (int at = 0; at < kBatchWords<Word>; ++at) {
    left[at] = __shfl_up_sync(kAllLanes, words[at], 1);
    last[at] = __shfl_sync(kAllLanes, words[at], 31);
  }
#pragma unroll
  for (int at = 0; at < kBatchWords<Word>; ++at) {
    words[at] -= lane != 0 ? left[at] : at == 0 ? before : last[at - 1];
  }
  before = last[kBatchWords<Word> - 1];
}

// Undoes subtract_neighbours().
template <typename Word>
__device__ void add_up(Word (&words)[kBatchWords<Word>], unsigned lane, Word& before) {
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    Word left[kBatchWords<Word>];
#pragma unroll
    for (int at = 0; at < kBatchWords<Word>; ++at) {
      left[at] = __shfl_up_sync(kAllLanes, words[at], offset);
    }
#pragma unroll
    for (int at = 0; at < kBatchWords<Word>; ++at) {
      if (lane >= offset) words[at] += left[at];
    }
  }
  Word total[kBatchWords<Word>];
#pragma unroll
  for (int at = 0; at < kBatchWords<Word>; ++at) total[at] = __shfl_sync(kAllLanes, words[at], 31);
#pragma unroll
  for (int at = 0; at < kBatchWords<Word>; ++at) {
    words[at] += before;
    before += total[at];
  }
}

// Which words of the group whose first is words[at] are not zero, for all lanes.
__device__ inline std::uint32_t presence(const std::uint32_t* words) {
  return __ballot_sync(kAllLanes, words[0] != 0);
}

__device__ inline std::uint64_t presence(const std::uint64_t* words) {
  const std::uint64_t high = __ballot_sync(kAllLanes, words[1] != 0);
  return high << 32 | __ballot_sync(kAllLanes, words[0] != 0);
}

__device__ inline int count_bits(std::uint32_t word) { return __popc(word); }
__device__ inline int count_bits(std::uint64_t word) { return __popcll(word); }

// The bits of `present` below the place of the lane's word `at`.
template <typename Word>
__device__ int words_before(Word present, unsigned lane, int at) {
  return count_bits(static_cast<Word>(present & ((Word{1} << (lane + 32 * at)) - 1)));
}

// The sum of `value` over the lanes up to and with this one.
__device__ inline int sum_of_lanes(int value, unsigned lane) {
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const int left = __shfl_up_sync(kAllLanes, value, offset);
    if (lane >= offset) value += left;
  }
  return value;
}

}  // namespace thinwire::codec::mpc
