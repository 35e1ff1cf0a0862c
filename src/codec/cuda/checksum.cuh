// The payload's checksum while a thread block has the payload in its hands; spec/frame.md.
#pragma once

#include <cstdint>

#include "base/checksum_core.h"

namespace thinwire::codec::cuda {

// The part of one thread: words at one place of their blocks, whatever the blocks. So its key is
// found once. For thread blocks of a multiple of kChecksumLanes threads that go through a payload
// thread by word.
class ChecksumPart {
 public:
  // `first_word`: the first that this thread will add, counted in its chunk's payload.
  __device__ explicit ChecksumPart(std::uint64_t first_word)
      : key_(checksum_key(first_word % kChecksumLanes)) {}

  // Adds the word at place `at` of the chunk's payload; at - first_word is a multiple of
  // kChecksumLanes.
  __device__ void add(std::uint64_t word, std::uint64_t at) {
    sum_ += checksum_product(word, key_) * checksum_weight(at / kChecksumLanes);
  }

  __device__ std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t key_;
  std::uint64_t sum_ = 0;
};

// The same for a thread block that goes through a whole payload, a thread for each word of a block:
// from the end, so that a block's weight comes from adding up instead of multiplying.
template <int kThreads>
class ChecksumRun {
  static_assert(kThreads == kChecksumLanes);

 public:
  __device__ void add_all(const std::uint64_t* payload, std::uint32_t words) {
    const std::uint64_t key = checksum_key(threadIdx.x);
    const int blocks = static_cast<int>((words + kThreads - 1) / kThreads);
    int block = blocks - 1;
    if (block >= 0 && block * kThreads + threadIdx.x >= words) --block;
#pragma unroll 4
    for (; block >= 0; --block) {
      products_ += checksum_product(payload[block * kThreads + threadIdx.x], key);
      sums_ += products_;
    }
  }

  // Block b was added b + 1 times to one sum and once to the other.
  __device__ std::uint64_t sum() const { return 2 * sums_ - products_; }

 private:
  std::uint64_t products_ = 0;
  std::uint64_t sums_ = 0;
};

// The sum over a thread block, in its thread 0. For whole thread blocks; `scratch` is shared memory
// of one word a warp, free again after the next barrier.
__device__ inline std::uint64_t sum_over_block(std::uint64_t value, std::uint64_t* scratch) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, offset);
  }
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) value += scratch[warp];
  }
  return value;
}

}  // namespace thinwire::codec::cuda
