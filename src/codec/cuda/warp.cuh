// Sums and other reductions over the lanes of a warp and over the warps of a thread block.
#pragma once

namespace thinwire::codec::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffu;

// `value` of all lanes put together by `join`, for each lane, if a GPU has no instruction for it
// (compute capability 7.5). For whole warps.
template <typename Join>
__device__ unsigned joined_over_warp(unsigned value, Join&& join) {
#pragma unroll
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    value = join(value, __shfl_xor_sync(kAllLanes, value, offset));
  }
  return value;
}

// The sum, the smallest, the largest and the bits of `value` over all lanes. For whole warps.
__device__ inline unsigned sum_of_lanes(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kAllLanes, value);
#else
  return joined_over_warp(value, [](unsigned a, unsigned b) { return a + b; });
#endif
}

__device__ inline unsigned least_of_lanes(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(kAllLanes, value);
#else
  return joined_over_warp(value, [](unsigned a, unsigned b) { return a < b ? a : b; });
#endif
}

__device__ inline unsigned most_of_lanes(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(kAllLanes, value);
#else
  return joined_over_warp(value, [](unsigned a, unsigned b) { return a > b ? a : b; });
#endif
}

__device__ inline unsigned bits_of_lanes(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(kAllLanes, value);
#else
  return joined_over_warp(value, [](unsigned a, unsigned b) { return a | b; });
#endif
}

// The sum of `value` over the lanes up to and with this one, among runs of kLanes lanes that stand
// kStep apart. For whole warps.
template <int kLanes = 32, int kStep = 1, typename Number>
__device__ Number sum_up_to_lane(Number value) {
  static_assert(kLanes * kStep <= 32);
  const unsigned number = threadIdx.x % 32 / kStep % kLanes;
#pragma unroll
  for (unsigned offset = 1; offset < kLanes; offset *= 2) {
    const Number left = __shfl_up_sync(kAllLanes, value, offset * kStep);
    if (number >= offset) value += left;
  }
  return value;
}

// The sum over the threads before this one, and over all.
template <typename Number>
struct Running {
  Number before, total;
};

// For whole thread blocks; has a barrier. `scratch` is shared memory of a number a warp, to be left
// alone until another one.
template <int kThreads, typename Number>
__device__ Running<Number> sum_before_thread(Number value, Number* scratch) {
  const unsigned warp = threadIdx.x / 32;
  const Number up_to = sum_up_to_lane(value);
  if (threadIdx.x % 32 == 31) scratch[warp] = up_to;
  __syncthreads();
  Running<Number> sums{up_to - value, 0};
#pragma unroll
  for (unsigned other = 0; other < kThreads / 32; ++other) {
    const Number its = scratch[other];
    if (other < warp) sums.before += its;
    sums.total += its;
  }
  return sums;
}

}  // namespace thinwire::codec::cuda
