// MPC's stages on a unit by one warp; spec/codec-mpc.md. Each lane has 32 values that follow one
// another, in its registers: a group of 32-bit words, half a group of 64-bit ones. So differences
// and transpositions need the neighbours' words at the lanes' borders alone.
#pragma once

#include <cstdint>

#include "codec/cuda/warp.cuh"
#include "codec/mpc/core.h"
#include "codec/word.h"

namespace thinwire::codec::mpc {

using cuda::kAllLanes;
inline constexpr int kLaneValues = kUnitValues / 32;

template <typename Word>
using LaneWords = Word[kLaneValues];

// Transposes the groups of the warp.
__device__ inline void transpose_groups(LaneWords<std::uint32_t>& words) { transpose_bits(words); }

// A group of 64 x 64 bits is four squares, two in each of two lanes, of which those off the
// diagonal change places. From squares of values to squares of words, and back.
__device__ inline void exchange_squares(LaneWords<std::uint32_t>& low,
                                        LaneWords<std::uint32_t>& high) {
  const bool is_second = (threadIdx.x & 1) != 0;
#pragma unroll
  for (int at = 0; at < kLaneValues; ++at) {
    const std::uint32_t other = __shfl_xor_sync(kAllLanes, is_second ? low[at] : high[at], 1);
    low[at] = is_second ? other : low[at];
    high[at] = is_second ? high[at] : other;
  }
}

__device__ inline void transpose_groups(LaneWords<std::uint64_t>& words) {
  LaneWords<std::uint32_t> low, high;
#pragma unroll
  for (int at = 0; at < kLaneValues; ++at) {
    low[at] = static_cast<std::uint32_t>(words[at]);
    high[at] = static_cast<std::uint32_t>(words[at] >> 32);
  }
  exchange_squares(low, high);
  transpose_bits(low);
  transpose_bits(high);
#pragma unroll
  for (int at = 0; at < kLaneValues; ++at) words[at] = low[at] | std::uint64_t{high[at]} << 32;
}

// Every word less the one before it in the unit; 0 stands before the first.
template <typename Word>
__device__ void subtract_neighbours(LaneWords<Word>& words) {
  const Word last = __shfl_up_sync(kAllLanes, words[kLaneValues - 1], 1);
#pragma unroll
  for (int at = kLaneValues - 1; at > 0; --at) words[at] -= words[at - 1];
  if (threadIdx.x % 32 != 0) words[0] -= last;
}

// Undoes subtract_neighbours().
template <typename Word>
__device__ void add_up(LaneWords<Word>& words) {
  Word sum = 0;
#pragma unroll
  for (int at = 0; at < kLaneValues; ++at) sum += words[at];
  Word before = cuda::sum_up_to_lane(sum) - sum;
#pragma unroll
  for (int at = 0; at < kLaneValues; ++at) {
    before += words[at];
    words[at] = before;
  }
}

// Which words are not zero.
template <typename Word>
__device__ std::uint32_t presence(const LaneWords<Word>& words) {
  std::uint32_t present = 0;
#pragma unroll
  for (int at = 0; at < kLaneValues; ++at) present |= words[at] != 0 ? 1u << at : 0;
  return present;
}

}  // namespace thinwire::codec::mpc
