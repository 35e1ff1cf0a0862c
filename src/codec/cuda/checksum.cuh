// The payload's checksum while a thread block has the payload in its hands; spec/frame.md.
#pragma once

#include <cstdint>

#include "base/checksum_core.h"

namespace thinwire::codec::cuda {

// The part of one thread of a block of kThreads, a multiple of kChecksumLanes, that goes through a
// whole payload: a thread has one place in every (kThreads / kChecksumLanes)th block, and begins at
// the end, so that a block's weight comes from adding up instead of multiplying.
template <int kThreads>
__device__ std::uint64_t sum_of_payload(const std::uint64_t* payload, std::uint32_t words) {
  constexpr int kStep = kThreads / kChecksumLanes;
  const std::uint64_t key = checksum_key(threadIdx.x % kChecksumLanes);
  const std::uint64_t first = threadIdx.x / kChecksumLanes;
  std::uint64_t products = 0;
  std::uint64_t sums = 0;
  const int own = static_cast<int>((words + kThreads - 1 - threadIdx.x) / kThreads);
#pragma unroll 4
  for (int at = own - 1; at >= 0; --at) {
    products += checksum_product(payload[at * kThreads + threadIdx.x], key);
    sums += products;
  }
  // The product of block first + at * kStep was added at + 1 times to one sum and once to the
  // other.
  return 2 * kStep * (sums - products) + (2 * first + 1) * products;
}

// The sum over a thread block in two steps with a barrier between them; `scratch` is shared memory
// of one word a warp.
__device__ inline void sum_over_warp(std::uint64_t value, std::uint64_t* scratch) {
  // In three parts, of which 32 still fit a word: the warp adds words at once.
  const auto part = [&](int from, int bits) {
    const auto piece = static_cast<unsigned>(value >> from) & ((1u << bits) - 1);
    return static_cast<std::uint64_t>(__reduce_add_sync(0xffffffffu, piece)) << from;
  };
  const std::uint64_t sum = part(0, 22) + part(22, 21) + part(43, 21);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = sum;
}

__device__ inline std::uint64_t sum_of_warps(const std::uint64_t* scratch) {
  std::uint64_t sum = 0;
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) sum += scratch[warp];
  return sum;
}

// Both steps, and the barrier.
__device__ inline std::uint64_t sum_over_block(std::uint64_t value, std::uint64_t* scratch) {
  sum_over_warp(value, scratch);
  __syncthreads();
  return sum_of_warps(scratch);
}

}  // namespace thinwire::codec::cuda
