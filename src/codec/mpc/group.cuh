// MPC's stages on one group of W words by one warp; spec/codec-mpc.md. W = 32 or 64: a lane holds
// word `lane`, and of 64-bit words also word `lane` + 32.
#pragma once

#include <cstdint>

#include "codec/mpc/core.h"

namespace thinwire::codec::mpc {

inline constexpr unsigned kAllLanes = 0xffffffffu;

template <typename Word>
inline constexpr int kLaneWords = kWordBits<Word> / 32;

template <typename Word>
struct Group {
  Word word[kLaneWords<Word>];
};

// Transposes 32 words of 32 bits, one a lane.
__device__ inline std::uint32_t transpose_lanes(std::uint32_t word, unsigned lane) {
#pragma unroll
  for (int width = 16; width > 0; width /= 2) {
    // The columns whose number lacks this bit.
    const std::uint32_t columns = 0xffffffffu / ((1u << width) + 1);
    const bool low = (lane & width) == 0;
    const std::uint32_t other = __shfl_xor_sync(kAllLanes, word, width);
    const std::uint32_t kept = low ? columns : ~columns;
    const std::uint32_t moved = __funnelshift_l(other, other, low ? width : 32 - width);
    word = (word & kept) | (moved & ~kept);
  }
  return word;
}

__device__ inline Group<std::uint32_t> transpose(Group<std::uint32_t> group, unsigned lane) {
  return {{transpose_lanes(group.word[0], lane)}};
}

// As four squares of 32 x 32, of which the two off the diagonal change places.
__device__ inline Group<std::uint64_t> transpose(Group<std::uint64_t> group, unsigned lane) {
  const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const std::uint32_t a = transpose_lanes(low(group.word[0]), lane);
  const std::uint32_t b = transpose_lanes(high(group.word[0]), lane);
  const std::uint32_t c = transpose_lanes(low(group.word[1]), lane);
  const std::uint32_t d = transpose_lanes(high(group.word[1]), lane);
  return {{a | std::uint64_t{c} << 32, b | std::uint64_t{d} << 32}};
}

// Every word less the one before it; `before` stands before the first, and becomes the last.
template <typename Word>
__device__ Group<Word> word_differences(const Group<Word>& group, unsigned lane, Word& before) {
  Group<Word> result;
#pragma unroll
  for (int at = 0; at < kLaneWords<Word>; ++at) {
    const Word left = __shfl_up_sync(kAllLanes, group.word[at], 1);
    result.word[at] = group.word[at] - (lane == 0 ? before : left);
    before = __shfl_sync(kAllLanes, group.word[at], 31);
  }
  return result;
}

// Undoes word_differences().
template <typename Word>
__device__ Group<Word> word_sums(const Group<Word>& group, unsigned lane, Word& before) {
  Group<Word> result;
#pragma unroll
  for (int at = 0; at < kLaneWords<Word>; ++at) {
    Word sum = group.word[at];
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      const Word left = __shfl_up_sync(kAllLanes, sum, offset);
      if (lane >= offset) sum += left;
    }
    result.word[at] = sum + before;
    before = __shfl_sync(kAllLanes, result.word[at], 31);
  }
  return result;
}

// Which words of a group are not zero, for all lanes.
template <typename Word>
__device__ Word presence(const Group<Word>& group) {
  Word bits = 0;
#pragma unroll
  for (int at = 0; at < kLaneWords<Word>; ++at) {
    bits |= static_cast<Word>(__ballot_sync(kAllLanes, group.word[at] != 0))
            << (32 * at % kWordBits<Word>);
  }
  return bits;
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
