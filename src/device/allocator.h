// The source of the GPU memory of pools: the driver, or the program.
#pragma once

#include <cstdint>

namespace thinwire::device {

// Functions of the program's. Called with the GPU current, by any thread, while no lock of the
// library is held.
struct Allocator {
  void* context;
  // Not 0: there is no memory.
  std::int32_t (*allocate)(void* context, std::int32_t device, std::uint64_t bytes, void** memory);
  void (*release)(void* context, std::int32_t device, void* memory, std::uint64_t bytes);
};

// Sets the allocator from now on; memory that an earlier one gave goes back to that one. nullptr:
// the driver.
void set_allocator(const Allocator* allocator);

// nullptr: the driver. Never destroyed: buffers outlive the next set_allocator().
const Allocator* current_allocator();

}  // namespace thinwire::device
