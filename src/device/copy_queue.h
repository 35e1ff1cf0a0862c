// Copies that are begun and waited for later: those of one device run in the order of their starts.
#pragma once

#include <cstdint>

#include "base/status.h"

struct CUevent_st;

namespace thinwire::device {

// One under way; finish_copy() must see it.
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
