// What streams are, and what the CUDA driver says of them. Nothing is linked: the driver is asked
// where this process has loaded one.
#pragma once

#include <cstdint>

#include "abi/nccl_abi.h"

namespace thinwire::nccl {

enum class Streams {
  kNone,  // of no kind that this build can put work on
  kHost,  // queues of host functions, of an NCCL over host memory
  kCuda,
};

// Asked for once a process, when it has called NCCL.
Streams streams();

// Puts a host function on a stream of the kind kHost.
int launch_on_host(cudaStream_t stream, void (*function)(void*), void* argument);

// Different for streams that lived at different times, whose handles may be equal.
std::uint64_t identity_of(cudaStream_t stream);

// Whether what is put on the stream goes into a graph.
bool is_captured(cudaStream_t stream);

}  // namespace thinwire::nccl
