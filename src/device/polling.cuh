// A step of each turn of a loop in which a thread waits for another thread block: none on a GPU.
// The emulator of tests/emulator has a file of its own in the place of this one.
#pragma once

namespace thinwire::device {

__device__ inline void between_polls() {}

}  // namespace thinwire::device
