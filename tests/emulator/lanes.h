// A thread block of a kernel on one thread of the host: how its threads wait for each other. A wait
// that cannot end ends the process and says who waits for what.
#pragma once

#include <cstdint>
#include <functional>

namespace thinwire::emulator {

inline constexpr unsigned kWarpLanes = 32;

// Runs `kernel` once for each of so many threads, on the calling thread, whose thread-local
// variables are the block's shared memory. Returns after all have ended.
void run_block(unsigned threads, const std::function<void()>& kernel);

// ---- For threads of a kernel ----

// An exchange's result; its values are there until the calling thread's next exchange.
struct Told {
  const std::uint64_t* value;  // by lane
  unsigned present;            // the lanes that take part
  unsigned nonzero;            // those of them whose value is not 0
};

// Waits for all lanes of `mask`, which must have the same.
Told exchange(unsigned mask, std::uint64_t own);

// A barrier's result: for how many threads `own` was true, and of how many.
struct Counted {
  unsigned nonzero, all;
};

// Waits for all threads of the block that have not ended.
Counted meet(bool own);

}  // namespace thinwire::emulator
