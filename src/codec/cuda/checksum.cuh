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

struct ChecksumKeys {
  std::uint64_t key[kChecksumLanes];
};

constexpr ChecksumKeys make_checksum_keys() {
  ChecksumKeys keys{};
  for (int lane = 0; lane < kChecksumLanes; ++lane) keys.key[lane] = checksum_key(lane);
  return keys;
}

// Read, because working one out takes as long as adding up a kilobyte.
static __device__ const ChecksumKeys kChecksumKeys = make_checksum_keys();

// The same for a thread block of kChecksumLanes threads that goes through a whole payload, a thread
// for each word of a block: from the end, so that a block's weight comes from adding up instead of
// multiplying. `key` is the thread's own.
__device__ inline std::uint64_t sum_of_payload(const std::uint64_t* payload, std::uint32_t words,
                                               std::uint64_t key) {
  std::uint64_t products = 0;
  std::uint64_t sums = 0;
  int block = static_cast<int>((words + kChecksumLanes - 1 - threadIdx.x) / kChecksumLanes) - 1;
#pragma unroll 4
  for (; block >= 0; --block) {
    products += checksum_product(payload[block * kChecksumLanes + threadIdx.x], key);
    sums += products;
  }
  // Block b was added b + 1 times to one sum and once to the other.
  return 2 * sums - products;
}

// The sum over a thread block in two steps with a barrier between them; `scratch` is shared memory
// of one word a warp.
__device__ inline void sum_over_warp(std::uint64_t value, std::uint64_t* scratch) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, offset);
  }
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
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
