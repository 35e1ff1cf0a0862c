// Copies between a thread block's payload in shared memory and memory at any alignment.
#pragma once

#include <cuda_pipeline.h>

#include <cstddef>
#include <cstdint>

namespace thinwire::codec::cuda {

template <typename Word>
__device__ std::uint32_t copy_words_out(std::byte* out, const std::uint64_t* payload,
                                        std::uint32_t bytes) {
  const std::uint32_t count = bytes / sizeof(Word);
#pragma unroll 4
  for (std::uint32_t at = threadIdx.x; at < count; at += blockDim.x) {
    reinterpret_cast<Word*>(out)[at] = reinterpret_cast<const Word*>(payload)[at];
  }
  return count * sizeof(Word);
}

// Both for whole thread blocks, without a barrier; `payload` is aligned to 16 bytes.
__device__ inline void copy_out(std::byte* out, const std::uint64_t* payload, std::uint32_t bytes) {
  std::uint32_t done = 0;
  if (reinterpret_cast<std::uintptr_t>(out) % 8 == 0) {
    done = copy_words_out<std::uint64_t>(out, payload, bytes);
  } else if (reinterpret_cast<std::uintptr_t>(out) % 4 == 0) {
    done = copy_words_out<std::uint32_t>(out, payload, bytes);
  }
  const auto* single = reinterpret_cast<const std::byte*>(payload);
  for (std::uint32_t at = done + threadIdx.x; at < bytes; at += blockDim.x) out[at] = single[at];
}

// Copies as many whole units as there are; all of a thread's are under way at once.
template <int kUnit>
__device__ std::uint32_t copy_units_in(std::byte* payload, const std::byte* in,
                                       std::uint32_t bytes) {
  const std::uint32_t whole = bytes / kUnit * kUnit;
  for (std::uint32_t at = kUnit * threadIdx.x; at < whole; at += kUnit * blockDim.x) {
    __pipeline_memcpy_async(payload + at, in + at, kUnit);
  }
  return whole;
}

// Fills up with zeros to whole words of 8 bytes. What is started is complete for a thread after it
// has committed and waited; at odd addresses at once.
__device__ inline void start_copy_in(std::uint64_t* payload, const std::byte* in,
                                     std::uint32_t bytes) {
  auto* const out = reinterpret_cast<std::byte*>(payload);
  const auto address = reinterpret_cast<std::uintptr_t>(in);
  std::uint32_t done = 0;
  if (address % 16 == 0) {
    done = copy_units_in<16>(out, in, bytes);
  } else if (address % 8 == 0) {
    done = copy_units_in<8>(out, in, bytes);
  } else if (address % 4 == 0) {
    done = copy_units_in<4>(out, in, bytes);
  }
  for (std::uint32_t at = done + threadIdx.x; at < bytes; at += blockDim.x) out[at] = in[at];
  if (threadIdx.x < (8 - bytes % 8) % 8) out[bytes + threadIdx.x] = std::byte{0};
}

__device__ inline void copy_in(std::uint64_t* payload, const std::byte* in, std::uint32_t bytes) {
  start_copy_in(payload, in, bytes);
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

}  // namespace thinwire::codec::cuda
