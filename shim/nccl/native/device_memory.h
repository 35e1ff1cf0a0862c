// How much memory of a GPU is free.
#pragma once

#include <cstdint>

namespace thinwire::nccl {

constexpr std::uint64_t kNotKnown = UINT64_MAX;

// The free bytes of that GPU, whichever the calling thread has; less than 0: the host, whose
// streams may have a GPU that is none. kNotKnown, more than anybody asks for, if CUDA does not say.
// Nothing waits for the GPU, but it may wait for another thread's call of CUDA: not for a thread or
// under a lock that GPUs wait for.
std::uint64_t free_bytes_of_gpu(int device);

}  // namespace thinwire::nccl
