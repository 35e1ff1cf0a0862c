// Copies between a thread block's payload in shared memory and memory at any alignment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thinwire::codec::cuda {

// Both for whole thread blocks, without a barrier; `payload` is aligned to 8 bytes.
__device__ inline void copy_out(std::byte* out, const std::uint64_t* payload, std::uint32_t bytes) {
  std::uint32_t done = 0;
  if (reinterpret_cast<std::uintptr_t>(out) % 4 == 0) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(payload);
    const std::uint32_t count = bytes / 4;
    for (std::uint32_t at = threadIdx.x; at < count; at += blockDim.x) {
      reinterpret_cast<std::uint32_t*>(out)[at] = words[at];
    }
    done = 4 * count;
  }
  const auto* single = reinterpret_cast<const std::byte*>(payload);
  for (std::uint32_t at = done + threadIdx.x; at < bytes; at += blockDim.x) out[at] = single[at];
}

// Fills up with zeros to whole words of 8 bytes.
__device__ inline void copy_in(std::uint64_t* payload, const std::byte* in, std::uint32_t bytes) {
  std::uint32_t done = 0;
  if (reinterpret_cast<std::uintptr_t>(in) % 4 == 0) {
    auto* words = reinterpret_cast<std::uint32_t*>(payload);
    const std::uint32_t count = bytes / 4;
#pragma unroll 8
    for (std::uint32_t at = threadIdx.x; at < count; at += blockDim.x) {
      words[at] = reinterpret_cast<const std::uint32_t*>(in)[at];
    }
    done = 4 * count;
  }
  auto* single = reinterpret_cast<std::byte*>(payload);
  for (std::uint32_t at = done + threadIdx.x; at < bytes; at += blockDim.x) single[at] = in[at];
  if (threadIdx.x < (8 - bytes % 8) % 8) single[bytes + threadIdx.x] = std::byte{0};
}

}  // namespace thinwire::codec::cuda
