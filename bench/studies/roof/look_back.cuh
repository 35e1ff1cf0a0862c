// Sums of what comes before a chunk, by one warp.
#pragma once

#include <cstdint>

#include "device.h"

namespace roof {

// A chunk's word about itself: an epoch in the upper half, that of the launch, so that nobody
// clears words; below it a number. The epoch is even if that is the chunk's own, odd if it is the
// sum up to the chunk's end.
using Word = unsigned long long;

struct Epoch {
  Word own, sum;
  __device__ explicit Epoch(std::uint32_t launch)
      : own(Word{2 * launch} << 32), sum(Word{2 * launch + 1} << 32) {}
};

// One thread.
__device__ inline void say_own(volatile Word* words, std::uint32_t chunk, std::uint32_t own,
                               std::uint32_t launch) {
  const Epoch epoch(launch);
  words[chunk] = (chunk == 0 ? epoch.sum : epoch.own) | own;
}

// Adds a word of each lane, lane 0's being the nearest, up to the first sum; false if there is one.
__device__ inline bool add_words(Word word, std::uint32_t number, const Epoch& epoch, unsigned lane,
                                 std::uint32_t& before) {
  const unsigned sums = __ballot_sync(kAllLanes, word >= epoch.sum);
  const unsigned last = sums == 0 ? 31 : __ffs(static_cast<int>(sums)) - 1;
  if (lane <= last) before += number;
  return sums == 0;
}

// The sum of what chunks before `chunk` say, for which it waits; a thread has said `own`.
template <int kStep>
__device__ std::uint32_t look_back(volatile Word* words, std::uint32_t chunk, std::uint32_t own,
                                   std::uint32_t launch, unsigned lane) {
  if (chunk == 0) return 0;
  const Epoch epoch(launch);
  std::uint32_t before = 0;
  bool goes_on = true;
#pragma unroll 1
  for (int at = static_cast<int>(chunk - 1 - lane); goes_on; at -= 32 * kStep) {
    Word word[kStep];
#pragma unroll
    for (int far = 0; far < kStep; ++far) {
      word[far] = at < 32 * far ? epoch.sum : words[at - 32 * far];
    }
#pragma unroll
    for (int far = 0; far < kStep; ++far) {
      if (!goes_on) break;
      while (word[far] < epoch.own) word[far] = words[at - 32 * far];
      goes_on = add_words(word[far], static_cast<std::uint32_t>(word[far]), epoch, lane, before);
    }
  }
  before = __reduce_add_sync(kAllLanes, before);
  if (lane == 0) words[chunk] = epoch.sum | (before + own);
  return before;
}

// The same of sizes that are all known: nobody waits, and sums that others have said already spare
// adding up.
template <int kStep, typename SizeOf>
__device__ std::uint32_t sum_known(volatile Word* words, std::uint32_t chunk, std::uint32_t launch,
                                   unsigned lane, const SizeOf& size_of) {
  const Epoch epoch(launch);
  std::uint32_t before = 0;
  bool goes_on = true;
#pragma unroll 1
  for (int at = static_cast<int>(chunk - 1 - lane); goes_on; at -= 32 * kStep) {
    Word word[kStep];
    std::uint32_t size[kStep];
#pragma unroll
    for (int far = 0; far < kStep; ++far) {
      const int its = at - 32 * far;
      word[far] = its < 0 ? epoch.sum : words[its];
      size[far] = its < 0 ? 0 : size_of(its);
    }
#pragma unroll
    for (int far = 0; far < kStep; ++far) {
      if (!goes_on) break;
      const bool is_sum = word[far] >= epoch.sum;
      goes_on = add_words(word[far], is_sum ? static_cast<std::uint32_t>(word[far]) : size[far],
                          epoch, lane, before);
    }
  }
  before = __reduce_add_sync(kAllLanes, before);
  if (lane == 0) words[chunk] = epoch.sum | (before + size_of(chunk));
  return before;
}

__device__ inline std::uint32_t sum_up_to_lane(std::uint32_t value, unsigned lane) {
#pragma unroll
  for (unsigned by = 1; by < 32; by *= 2) {
    const std::uint32_t left = __shfl_up_sync(kAllLanes, value, by);
    if (lane >= by) value += left;
  }
  return value;
}

}  // namespace roof
