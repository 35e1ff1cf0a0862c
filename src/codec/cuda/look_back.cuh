// Prefix sums over thread blocks in one pass: decoupled look-back (Merrill and Garland,
// "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016).
#pragma once

#include <cstdint>

namespace thinwire::codec::cuda {

// One word for each thread block, 0 before it has spoken: what it adds, later the sum up to and
// with it. Value and meaning change in one store, so no fence stands between them.
using ScanWord = std::uint64_t;

inline constexpr ScanWord kAdds = std::uint64_t{1} << 62;
inline constexpr ScanWord kSum = std::uint64_t{2} << 62;
inline constexpr ScanWord kScanValue = kAdds - 1;

__device__ inline void say(ScanWord* words, std::uint64_t index, ScanWord meaning,
                           std::uint64_t value) {
  *static_cast<volatile ScanWord*>(words + index) = meaning | value;
}

// The sum of what the thread blocks before `index` add, for all lanes of the one warp that calls
// this. Blocks are dispatched in the order of their indices, so those waited for are running.
__device__ inline std::uint64_t look_back(const ScanWord* words, std::uint64_t index) {
  const unsigned lane = threadIdx.x % 32;
  std::uint64_t before = 0;
  for (std::uint64_t end = index;; end -= 32) {
    const bool exists = lane < end;
    const volatile ScanWord* at = words + (exists ? end - 1 - lane : 0);
    ScanWord word;
    unsigned sums;
    // All lanes up to the first that knows the whole sum must have spoken.
    while (true) {
      word = exists ? *at : kSum;
      sums = __ballot_sync(0xffffffffu, word >= kSum);
      const unsigned silent = __ballot_sync(0xffffffffu, word == 0);
      const unsigned needed = sums == 0 ? 0xffffffffu : (2u << (__ffs(sums) - 1)) - 1;
      if ((silent & needed) == 0) break;
    }
    const bool counts = sums == 0 || lane < static_cast<unsigned>(__ffs(sums));
    std::uint64_t value = counts ? word & kScanValue : 0;
    for (int offset = 16; offset > 0; offset /= 2) {
      value += __shfl_xor_sync(0xffffffffu, value, offset);
    }
    before += value;
    if (sums != 0) return before;
  }
}

}  // namespace thinwire::codec::cuda
