// The second kernel of Learns::kLater: raw exponents from their slots to where they go.
#pragma once

#include "encode.cuh"

namespace roof {

inline constexpr std::uint32_t kGatherChunks = 16;  // of a thread block
inline constexpr int kGatherThreads = 256;

// The sum of the sizes before chunk `first`, by a thread block.
__device__ inline std::uint32_t sum_before(const std::uint32_t* sizes, std::uint32_t first,
                                           std::uint32_t* sums) {
  std::uint32_t sum = 0;
  for (std::uint32_t at = threadIdx.x; at < first; at += kGatherThreads) sum += sizes[at];
  sum = __reduce_add_sync(kAllLanes, sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  std::uint32_t before = 0;
#pragma unroll
  for (int other = 0; other < kGatherThreads / 32; ++other) before += sums[other];
  return before;
}

template <typename F>
__global__ void __launch_bounds__(kGatherThreads) gather(EncodeJob job) {
  SHARED_WORDS;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#ifdef __CUDACC__
  cudaGridDependencySynchronize();
#endif
  const auto* const sizes = reinterpret_cast<const std::uint32_t*>(job.words);
  const std::uint32_t first = blockIdx.x * kGatherChunks;
  const std::uint32_t before =
      sum_before(sizes, first, reinterpret_cast<std::uint32_t*>(shared_words));
  const bool has_chunk = lane < kGatherChunks && first + lane < job.chunks;
  const std::uint32_t own = has_chunk ? sizes[first + lane] : 0;
  const std::uint32_t end = before + sum_up_to_lane(own, lane);
  if (warp == 0 && has_chunk) put_row_of_table<F>(job, end - own, own, first + lane);
  for (std::uint32_t its = warp; its < kGatherChunks; its += kGatherThreads / 32) {
    const std::uint32_t size = __shfl_sync(kAllLanes, own, its);
    std::uint8_t* const to =
        job.frame + F::raw(job.chunks) + __shfl_sync(kAllLanes, end, its) - size;
    const std::uint8_t* const from =
        job.slots + std::uint64_t{first + its} * F::kChunkValues * F::kRawBytes;
    for (std::uint32_t at = lane; at < size; at += 32) to[at] = from[at];
  }
}

}  // namespace roof
