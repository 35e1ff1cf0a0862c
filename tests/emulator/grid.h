// The thread blocks of a kernel, on a few threads of the host.
#pragma once

#include <cstddef>
#include <functional>

namespace thinwire::emulator {

// As many blocks as are under way at once; a grid of so many may have blocks that wait for each
// other. Of a larger one they begin in their order, as soon as one before has ended.
inline constexpr unsigned kBlocksAtOnce = 3;

// Runs a kernel of `blocks` times `layers` thread blocks of `threads`, which have so much
// dynamic shared memory. Returns after the last has ended.
void run_grid(unsigned blocks, unsigned layers, unsigned threads, std::size_t shared_bytes,
              const std::function<void()>& kernel);

}  // namespace thinwire::emulator
