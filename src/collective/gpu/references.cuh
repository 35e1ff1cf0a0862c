// Parts that the kernels of references.cu and differences.cu share.
#pragma once

#include "collective/slots/references.h"

namespace thinwire::collective {

__device__ inline slot::SlotWords words_at(const std::byte* at) {
  return *reinterpret_cast<const slot::SlotWords*>(at);
}

// The sum over a warp's lanes, in lane 0.
__device__ inline std::uint64_t sum_of_lanes(std::uint64_t sum) {
  for (int far = 16; far > 0; far /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, far);
  return sum;
}

}  // namespace thinwire::collective
