// The thread blocks of a kernel, on a few threads of the host.
#pragma once

#include <cstddef>
#include <functional>

namespace thinwire::emulator {

// Blocks under way at once, each on a thread of the host. Those of a grid of at most so many may
// wait for each other. Of a larger grid they begin in their order, each as soon as an earlier one
// ends.
inline constexpr unsigned kBlocksAtOnce = 3;

// Runs a kernel of `blocks` times `layers` thread blocks of `threads` threads, each block with so
// many bytes of dynamic shared memory. Returns after the last has ended; one grid runs at a time.
void run_grid(unsigned blocks, unsigned layers, unsigned threads, std::size_t shared_bytes,
              const std::function<void()>& kernel);

}  // namespace thinwire::emulator
