// What the lanes of a warp work out together.
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

}  // namespace thinwire::codec::cuda
