// Parts that encoding and decoding share. A warp has a stretch of a chunk, and each of its lanes
// has, in each of the stretch's rows, the group with its number.
#pragma once

#include <cstdint>

#include "codec/cuda/warp.cuh"
#include "codec/expack/core.h"

namespace thinwire::codec::expack {

using cuda::kAllLanes;

inline constexpr std::uint32_t kByteOnes = 0x01010101u;
inline constexpr std::uint32_t kBothOnes = 0x00010001u;
inline constexpr std::uint32_t kNibbleOnes = 0x11111111u;

// A warp's rows of a chunk of `all` rows.
struct Rows {
  int first;
  int count;
  int all;

  __device__ explicit Rows(std::uint32_t values) : all(static_cast<int>(rows_of(values))) {
    const int each = static_cast<int>(stretch_rows(all));
    first = min(static_cast<int>(threadIdx.x / 32) * each, all);
    count = min(each, all - first);
  }
};

// The bytes of `low` and `high` that the selector's four lowest nibbles name; one that has its
// highest bit set stands for eight copies of the sign of the byte that the others name.
__device__ inline std::uint32_t permute(std::uint32_t low, std::uint32_t high,
                                        std::uint32_t selector) {
  std::uint32_t bytes = 0;
#if defined(__CUDACC__) && defined(__CUDA_ARCH__)
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(low), "r"(high), "r"(selector));
#else
  for (int at = 0; at < 32; at += 8) {
    const std::uint32_t nibble = selector >> at / 2;
    const std::uint32_t byte = (nibble % 8 < 4 ? low : high) >> nibble % 4 * 8 & 0xFF;
    bytes |= ((nibble & 8) == 0 ? byte : byte / 128 * 0xFF) << at;
  }
#endif
  return bytes;
}

// A number that is not worth making anew where it is used.
__device__ inline std::uint32_t kept(std::uint32_t number) {
  asm volatile("" : "+r"(number));
  return number;
}

// The lowest bit, or another, of each of four bytes, as the lowest four bits.
template <int kBit = 0>
__device__ std::uint32_t join_bits(std::uint32_t bytes) {
  return ((bytes & kByteOnes << kBit) * (0x10204080u >> kBit)) >> 28;
}

// Sums of `own`: over the warps before this one, over all, and up to this one's end.
struct Shares {
  std::uint32_t before = 0, all = 0, end = 0;

  Shares() = default;
  __device__ explicit Shares(const std::uint32_t (&own)[kStretches]) {
#pragma unroll
    for (unsigned other = 0; other < kStretches; ++other) {
      if (other == threadIdx.x / 32) before = all;
      all += own[other];
      if (other == threadIdx.x / 32) end = all;
    }
  }
};

// The shares of a number that each warp has. `scratch` is shared memory of a number a warp. For
// whole thread blocks; has a barrier.
__device__ inline Shares share(std::uint32_t own, std::uint32_t (&scratch)[kStretches]) {
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = own;
  __syncthreads();
  return Shares(scratch);
}

}  // namespace thinwire::codec::expack
