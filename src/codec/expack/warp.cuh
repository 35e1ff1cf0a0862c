// What encoding and decoding share: a warp has kWarpRows rows of a chunk, and each of its lanes one
// group of each.
#pragma once

#include <cstdint>

#include "codec/expack/core.h"

namespace thinwire::codec::expack {

inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kWarpRows = 4;

template <Dtype kDtype>
inline constexpr int kWarps = kChunkValues<kDtype> / (kWarpRows * kRowValues);

inline constexpr std::uint32_t kBytesOnes = 0x01010101u;

// For each lane and each of its rows, a number of things that all groups of the chunk before it
// have, in code order.
struct Places {
  std::uint32_t packed;          // in the row, before the lane: 8 bits a row
  std::uint32_t row[kWarpRows];  // in the warp, before the row
  std::uint32_t total;           // of the warp
};

// `counts` has the lane's own numbers, at most 8 each, 8 bits a row.
__device__ inline Places find_places(std::uint32_t counts, unsigned lane) {
  Places places;
  std::uint32_t sum = counts;
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const std::uint32_t before = __shfl_up_sync(kAllLanes, sum, offset);
    if (lane >= offset) sum += before;
  }
  // A row's 256 would be more than 8 bits: what lies before the last lane is not.
  places.packed = sum - counts;
  const std::uint32_t last_packed = __shfl_sync(kAllLanes, places.packed, 31);
  const std::uint32_t last_counts = __shfl_sync(kAllLanes, counts, 31);
  places.total = 0;
#pragma unroll
  for (int row = 0; row < kWarpRows; ++row) {
    places.row[row] = places.total;
    places.total += (last_packed >> (8 * row) & 0xFF) + (last_counts >> (8 * row) & 0xFF);
  }
  return places;
}

__device__ inline std::uint32_t place_of(const Places& places, int row) {
  return places.row[row] + (places.packed >> (8 * row) & 0xFF);
}

// The sums of a number that each warp has in `of_warps`: of all warps, and of those before this
// one.
struct WarpSums {
  std::uint32_t all;
  std::uint32_t before;
};

template <int kCount>
__device__ WarpSums sum_warps(const std::uint32_t (&of_warps)[kCount], unsigned lane) {
  const std::uint32_t own = lane < kCount ? of_warps[lane] : 0;
  const std::uint32_t before = lane < threadIdx.x / 32 ? own : 0;
  return {__reduce_add_sync(kAllLanes, own), __reduce_add_sync(kAllLanes, before)};
}

// The bytes of `low` and `high` that the selector's four lowest nibbles name; one that has its
// highest bit set stands for eight copies of the sign of the byte that the others name.
__device__ inline std::uint32_t permute(std::uint32_t low, std::uint32_t high,
                                        std::uint32_t selector) {
  std::uint32_t bytes;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(low), "r"(high), "r"(selector));
  return bytes;
}

// One bit each of four bytes, the lowest, as the lowest four.
__device__ inline std::uint32_t join_bits(std::uint32_t bytes) {
  return ((bytes & kBytesOnes) * 0x10204080u) >> 28;
}

}  // namespace thinwire::codec::expack
