// Page-locked host memory from the system. CUDA builds only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace thinwire::device {

struct Allocation {
  std::byte* data;
  std::uint64_t mapped_bytes;  // of our own mapping; 0 for the driver's
};

// Memory that all GPUs reach under its own address, aligned to 256 bytes; a context is current.
// Large pieces are mapped in huge pages and registered, which takes less than half the driver's
// time for pages of its own. kDevice if the driver refuses.
Result<Allocation> allocate_pinned(std::uint64_t bytes);
void free_pinned(const Allocation& memory);

}  // namespace thinwire::device
