// Running sums of the sizes of a frame's payloads, which say where each payload begins. One warp or
// thread block of the grid computes them while the others work, or each block its own.
//
// In a decoupled look-back (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
// Look-back", 2016) every thread block reads its predecessors' words until it meets a sum
// (look_back()). Or one reads them all, each a single time (scan_sizes()), and each other block
// polls a single word: its own.
#pragma once

#include <cstdint>

#include "codec/cuda/warp.cuh"
#include "device/polling.cuh"

namespace thinwire::codec::cuda {

// One word for each chunk, 0 before its size is known: the size, later the sum up to and with it.
// Value and meaning change in one store, so no fence stands between them.
using ScanWord = std::uint64_t;

inline constexpr ScanWord kAdds = std::uint64_t{1} << 62;
inline constexpr ScanWord kSum = std::uint64_t{2} << 62;
inline constexpr ScanWord kScanValue = kAdds - 1;

// Words that a lane reads at once.
inline constexpr int kWordsOfLane = 8;

__device__ inline void say(ScanWord* words, std::uint64_t index, ScanWord meaning,
                           std::uint64_t value) {
  *static_cast<volatile ScanWord*>(words + index) = meaning | value;
}

// Waits for the sum up to and with `index`. One thread.
__device__ inline std::uint64_t await_sum(const ScanWord* words, std::uint64_t index) {
  for (;;) {
    const ScanWord word = *static_cast<const volatile ScanWord*>(words + index);
    if (word >= kSum) return word & kScanValue;
    device::between_polls();
  }
}

// The sum of the sizes before `index`, whose own size is said already, by a warp of each thread
// block: it looks back until it meets a sum, and says its own. Nobody adds up all then.
__device__ inline std::uint64_t look_back(ScanWord* words, std::uint64_t index, std::uint64_t own) {
  const unsigned lane = threadIdx.x % 32;
  std::uint64_t before = 0;
  bool goes_on = true;
  for (std::uint64_t end = index; goes_on; end -= 32) {
    const volatile ScanWord* const from = words + end - 1 - lane;
    ScanWord word = lane < end ? *from : kSum;
    while (word == 0) {
      device::between_polls();
      word = *from;
    }
    const unsigned sums = __ballot_sync(kAllLanes, word >= kSum);
    const unsigned last = sums == 0 ? 31 : __ffs(static_cast<int>(sums)) - 1;
    if (lane <= last) before += word & kScanValue;
    goes_on = sums == 0;
  }
  before = __shfl_sync(kAllLanes, sum_up_to_lane(before), 31);
  if (lane == 0) say(words, index, kSum, before + own);
  return before;
}

// Turns the sizes of `count` chunks into sums as they become known, by one warp; the last sum.
__device__ inline std::uint64_t scan_sizes(ScanWord* words, std::uint64_t count) {
  const unsigned lane = threadIdx.x % 32;
  std::uint64_t sum = 0;
  for (std::uint64_t base = 0; base < count;) {
    const std::uint64_t first = base + lane * kWordsOfLane;
    ScanWord word[kWordsOfLane];
#pragma unroll
    for (int at = 0; at < kWordsOfLane; ++at) {
      const bool exists = first + at < count;
      word[at] = exists ? *static_cast<const volatile ScanWord*>(words + first + at) : 0;
    }
    // Sums that are known without a gap from the base on.
    int known = 0;
    std::uint64_t own = 0;
#pragma unroll
    for (int at = 0; at < kWordsOfLane; ++at) {
      if (known == at && word[at] != 0) {
        ++known;
        own += word[at] & kScanValue;
      }
    }
    const unsigned gaps = __ballot_sync(kAllLanes, known < kWordsOfLane);
    const unsigned first_gap = gaps == 0 ? 32 : __ffs(gaps) - 1;
    if (lane > first_gap) known = 0, own = 0;
    const std::uint64_t up_to = sum + sum_up_to_lane(own);
    std::uint64_t running = up_to - own;
#pragma unroll
    for (int at = 0; at < kWordsOfLane; ++at) {
      if (at >= known) continue;
      running += word[at] & kScanValue;
      say(words, first + at, kSum, running);
    }
    sum = __shfl_sync(kAllLanes, up_to, 31);
    if (lane == 0 && first_gap == 0) device::between_polls();
    base += first_gap * kWordsOfLane + (gaps == 0 ? 0 : __shfl_sync(kAllLanes, known, first_gap));
  }
  return sum;
}

}  // namespace thinwire::codec::cuda
