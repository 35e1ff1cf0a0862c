// The payload's checksum while a thread block has the payload in its hands; spec/frame.md.
#pragma once

#include <cstdint>

#include "base/checksum.h"
#include "codec/cuda/warp.cuh"

namespace thinwire::codec::cuda {

// A thread's part of a checksum, of words that stand kThreads apart and are taken from the last one
// to the first: all are at one lane, and their weights grow by the same from each to the next, so
// that adding up takes the place of multiplying.
template <int kThreads>
class LaneSum {
  static_assert(kThreads % kChecksumLanes == 0);

 public:
  // `first`: which word of the payload the thread takes last.
  __device__ explicit LaneSum(std::uint32_t first)
      : first_(first), key_(checksum_key(first % kChecksumLanes)) {}

  __device__ void take(std::uint64_t word) {
    products_ += checksum_product(word, key_);
    sums_ += products_;
  }
  __device__ std::uint64_t sum() const {
    constexpr int kStep = kThreads / kChecksumLanes;
    // The product of the thread's word `at` was added at + 1 times to one sum and once to the
    // other.
    return 2 * kStep * (sums_ - products_) + checksum_weight(first_ / kChecksumLanes) * products_;
  }

 private:
  std::uint32_t first_;
  std::uint64_t key_;
  std::uint64_t products_ = 0;
  std::uint64_t sums_ = 0;
};

// A thread's part of the checksum of a payload of which a thread block has `count` words in shared
// memory, from word `first` on.
template <int kThreads>
__device__ std::uint64_t sum_of_words(const std::uint64_t* words, std::uint32_t count,
                                      std::uint32_t first = 0) {
  LaneSum<kThreads> sum(first + threadIdx.x);
  const int own = static_cast<int>((count + kThreads - 1 - threadIdx.x) / kThreads);
#pragma unroll 4
  for (int at = own - 1; at >= 0; --at) sum.take(words[at * kThreads + threadIdx.x]);
  return sum.sum();
}

// The sum over a thread block in two steps with a barrier between them; `scratch` is shared memory
// of one word a warp.
__device__ inline void sum_over_warp(std::uint64_t value, std::uint64_t* scratch) {
  // The value is cut into three parts, of which the sum of 32 fits a word, as the warp adds words.
  const auto part = [&](int from, int bits) {
    const auto piece = static_cast<unsigned>(value >> from) & ((1u << bits) - 1);
    return static_cast<std::uint64_t>(sum_of_lanes(piece)) << from;
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
