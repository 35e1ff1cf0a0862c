// What the lanes of a warp, and the warps of a thread block, add up together.
#pragma once

namespace thinwire::codec::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffu;

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

// What the threads before this one have, and what all have.
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
