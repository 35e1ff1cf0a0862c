// The order of work on several streams, by CUDA's events.
#pragma once

#include <span>

#include "native/nccl_abi.h"

namespace thinwire::nccl {

// Makes work that comes next on each of these streams, which are all of one device, wait for what
// is on all of them now. Waits for nothing itself; from any thread. They are captured alike. False:
// CUDA has refused, and some may wait and others not.
bool join(int device, std::span<const cudaStream_t> streams);

// Whether all are captured into one graph, or none of them into any.
bool are_captured_alike(std::span<const cudaStream_t> streams);

}  // namespace thinwire::nccl
