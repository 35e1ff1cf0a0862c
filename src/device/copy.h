// Copies between any two places.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace thinwire::device {

// The device of either side; -1 if both are host memory, or null.
Result<int> device_of(const void* destination, const void* source);

// Complete on return; waits for no earlier work of the caller's.
Status copy(void* destination, const void* source, std::uint64_t bytes);

}  // namespace thinwire::device
