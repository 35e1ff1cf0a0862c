// Copies between any two places: at once, or begun and waited for later.
#pragma once

#include <cstdint>

#include "base/status.h"

struct CUevent_st;

namespace thinwire::device {

// The device of either side; -1 if both are host memory, or null.
Result<int> device_of(const void* destination, const void* source);

// Complete on return; waits for no earlier work of the caller's.
Status copy(void* destination, const void* source, std::uint64_t bytes);

// A copy under way; finish_copy() must see it. Those of one device run in the order of their
// starts.
struct StartedCopy {
  int device = -1;
  CUevent_st* done = nullptr;
};

// Between any two places, of which `device` is one's or reaches both. With pageable host memory it
// may be complete on return.
Result<StartedCopy> start_copy(void* destination, const void* source, std::uint64_t bytes,
                               int device);

// Waits for its end.
Status finish_copy(const StartedCopy& copy);

}  // namespace thinwire::device
