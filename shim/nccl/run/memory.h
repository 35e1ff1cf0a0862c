// Memory of calls, shared by all communicators of the process. What is given back is kept for
// others while there are communicators: freeing GPU memory would wait for streams, and these for
// the thread that frees, or for another rank that waits for this one.
#pragma once

#include <cstdint>

namespace thinwire::nccl {

constexpr int kHostOnly = -1;  // as a device: streams are queues of host functions

// Memory that streams of `device` work in, at least `bytes`, aligned to 256; null: none is left.
// `got` is what there is of it.
void* take_working(int device, std::uint64_t bytes, std::uint64_t* got);
// The same in the host's memory, which those streams reach, and are slow in.
void* take_working_on_host(int device, std::uint64_t bytes, std::uint64_t* got);
// Working memory of just so many bytes, for long.
void* take_exactly(int device, std::uint64_t bytes);
// Whether so much lies idle, so that the next of these calls takes nothing new of the device.
bool lies_idle(int device, std::uint64_t bytes);
// Gives back memory of any kind.
void give_working(void* memory);
// Gives what lies idle to the core's pools, which give back to the system what is above their
// bound. That may wait for whatever is on the GPUs.
void give_idle();

// Memory of the host that streams of any device reach, aligned to 64; `bytes` as it was taken. The
// host may read it for as long as the process lives.
void* take_shared(int device, std::uint64_t bytes);
void give_shared(int device, void* memory, std::uint64_t bytes);

}  // namespace thinwire::nccl
