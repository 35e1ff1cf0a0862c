// MPC's stages on a unit by one warp; spec/codec-mpc.md. Each lane has 32 values that follow one
// another, in its registers: a group of 32-bit words, half a group of 64-bit ones. So differences
// and transpositions need the neighbours' words at the lanes' borders alone.
#pragma once

#include <cstdint>
#include <numeric>
#include <type_traits>

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

// Every word less the one kStride before it in the unit; 0 stands before the first.
template <int kStride, typename Word>
__device__ void subtract_before(LaneWords<Word>& words) {
  static_assert(kStride <= kLaneValues);
  Word before[kStride];
#pragma unroll
  for (int at = 0; at < kStride; ++at) {
    before[at] = __shfl_up_sync(kAllLanes, words[kLaneValues - kStride + at], 1);
    if (threadIdx.x % 32 == 0) before[at] = 0;
  }
#pragma unroll
  for (int at = kLaneValues - 1; at >= 0; --at) {
    words[at] -= at < kStride ? before[at] : words[at - kStride];
  }
}

// How far the places of a stride move on from lane to lane, and after how many lanes they are back.
template <int kStride>
inline constexpr int kPlaceStep = kLaneValues % kStride;
template <int kStride>
inline constexpr int kPlaceTurns = kStride / std::gcd(kStride, kPlaceStep<kStride>);

// Numbers by the places of a stride, counted from the lane's first word, become those by the places
// counted from the unit's first word; or back.
template <int kStride, bool kBack, typename Word>
__device__ void turn_places(Word (&numbers)[kStride]) {
  constexpr int kMove = kBack ? kPlaceStep<kStride> : kStride - kPlaceStep<kStride>;
  const int turn = static_cast<int>(threadIdx.x % 32) % kPlaceTurns<kStride>;
  Word turned[kStride];
#pragma unroll
  for (int place = 0; place < kStride; ++place) {
    turned[place] = numbers[place];
#pragma unroll
    for (int other = 1; other < kPlaceTurns<kStride>; ++other) {
      if (turn == other) turned[place] = numbers[(place + other * kMove) % kStride];
    }
  }
#pragma unroll
  for (int place = 0; place < kStride; ++place) numbers[place] = turned[place];
}

// Undoes subtract_before().
template <int kStride, typename Word>
__device__ void add_before(LaneWords<Word>& words) {
  Word sums[kStride] = {};
#pragma unroll
  for (int at = 0; at < kLaneValues; ++at) sums[at % kStride] += words[at];
  turn_places<kStride, false>(sums);
#pragma unroll
  for (Word& sum : sums) sum = cuda::sum_up_to_lane(sum) - sum;
  turn_places<kStride, true>(sums);
#pragma unroll
  for (int at = 0; at < kLaneValues; ++at) {
    sums[at % kStride] += words[at];
    words[at] = sums[at % kStride];
  }
}

// Calls `f` with the stride as a constant if it is one that arrays often have: 1, or the values of
// a point. False for others.
template <typename F>
__device__ bool with_frequent_stride(int stride, F&& f) {
  switch (stride) {
    case 1:
      f(std::integral_constant<int, 1>());
      return true;
    case 2:
      f(std::integral_constant<int, 2>());
      return true;
    case 3:
      f(std::integral_constant<int, 3>());
      return true;
    case 4:
      f(std::integral_constant<int, 4>());
      return true;
    case 6:
      f(std::integral_constant<int, 6>());
      return true;
    default:
      return false;
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
