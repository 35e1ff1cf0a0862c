// The order of work on several streams, by CUDA's events.
#pragma once

#include <span>

#include "abi/nccl_abi.h"

namespace thinwire::nccl {

// What comes next on each of these streams, which are all of one device, waits for what is on all
// of them now. Waits for nothing itself; from any thread. Streams that are not captured into one
// graph, or all of them into none, are left alone: NCCL refuses such groups. False: CUDA has
// refused, and some may wait and others not.
bool join(int device, std::span<const cudaStream_t> streams);

}  // namespace thinwire::nccl
