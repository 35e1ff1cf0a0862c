// The indices of a kernel's thread, by CUDA's names. A thread of the host runs a block at a time,
// and turns.cpp sets threadIdx before each thread's turn.
#pragma once

namespace thinwire::emulator {

struct Index {
  unsigned x, y, z;
};

}  // namespace thinwire::emulator

[[gnu::tls_model(
    "initial-exec")]] extern constinit thread_local thinwire::emulator::Index threadIdx,
    blockIdx, blockDim, gridDim;
