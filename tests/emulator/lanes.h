// A thread block of a kernel on one thread of the host: how its threads, the lanes of warps, wait
// for each other. If none can go on, the process ends and says which thread waits for what.
#pragma once

#include <cstdint>
#include <functional>

namespace thinwire::emulator {

inline constexpr unsigned kWarpLanes = 32;

// Runs `kernel` for each of so many threads of a block, on the calling thread of the host, whose
// thread-local variables are the block's shared memory. Returns after all have ended.
void run_block(unsigned threads, const std::function<void()>& kernel);

// ---- For threads of a kernel ----

// An exchange's result; its values are there until the calling thread's next exchange.
struct Told {
  const std::uint64_t* value;  // by lane
  unsigned present;            // a bit for each lane of the mask that the block has
  unsigned nonzero;            // a bit for each of them whose value is not 0
};

// Gives `own` to all lanes of `mask`, and waits until each of them has called this with that mask.
Told exchange(unsigned mask, std::uint64_t own);

// A barrier's result: how many threads have met, and for how many of them `own` was true.
struct Counted {
  unsigned nonzero, all;
};

// Waits for all threads of the block that have not ended.
Counted meet(bool own);

// Waits until no thread of the block can do anything else; a bit for each lane of the own warp that
// waits here by then, which are as many as a GPU may find together.
unsigned active();

}  // namespace thinwire::emulator
