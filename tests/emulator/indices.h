// The place of a kernel's thread, by CUDA's names; each thread of the host has its block's.
#pragma once

namespace thinwire::emulator {

struct Index {
  unsigned x, y, z;
};

}  // namespace thinwire::emulator

[[gnu::tls_model(
    "initial-exec")]] extern constinit thread_local thinwire::emulator::Index threadIdx,
    blockIdx, blockDim, gridDim;
