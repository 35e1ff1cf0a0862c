// Kinds of memory, and which of them a pointer points to.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace thinwire::device {

// Values are part of the C ABI (tw_memory); never renumber.
enum class Memory : std::uint32_t { kHost = 0, kPinned = 1, kDevice = 2, kManaged = 3 };

struct Place {
  Memory memory = Memory::kHost;
  int device = -1;  // ordinal; -1 for host memory

  bool on_device() const { return memory == Memory::kDevice || memory == Memory::kManaged; }
};

// Asks the driver if that can matter: never before the process has loaded it, never for a stack
// or the main heap. Does not initialise CUDA. kUnsupported for memory of a context other than its
// device's primary one, which this library's streams do not reach;
// kDevice if the driver does not answer.
Result<Place> place_of(const void* pointer);

// As above, without a Result: also true if place_of() fails, so that nobody takes such memory
// for the host's.
bool on_device(const void* pointer);

}  // namespace thinwire::device
