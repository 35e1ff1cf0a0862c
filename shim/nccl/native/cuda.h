// Streams, and what the CUDA driver says of them. Nothing is linked: the driver is asked where this
// process has loaded one.
#pragma once

#include <cstdint>

#include "native/nccl_abi.h"

namespace thinwire::nccl {

enum class Streams {
  kNone,  // of no kind that this build can put work on
  kHost,  // queues of host functions, of an NCCL over host memory
  kCuda,
};

// Asked for once a process, when it has called NCCL.
Streams streams();

// A function of the driver, or if streams are the host's that of a runtime with an equal one.
// Null: there is none.
void* cuda_function(const char* of_host, const char* of_driver);
template <typename Function>
void find_cuda(Function& to, const char* of_host, const char* of_driver) {
  to = reinterpret_cast<Function>(cuda_function(of_host, of_driver));
}

// Puts a host function on a stream of the kind kHost.
int launch_on_host(cudaStream_t stream, void (*function)(void*), void* argument);

// Different for streams that lived at different times, whose handles may be equal. Not of a stream
// that is being captured: CUDA refuses that, and the capture is invalid from then on.
std::uint64_t identity_of(cudaStream_t stream);

// Whether what is put on the stream goes into a graph, and into which.
struct Capture {
  enum class State { kNone, kActive, kUnclear };  // unclear: an error, which is NCCL's to tell
  State state = State::kNone;
  unsigned long long id = 0;  // of this capture alone
  void* graph = nullptr;
};
Capture capture_of(cudaStream_t stream);

// release(argument) runs once, on any thread, when the graph that is being captured and all that
// was made of it have ended, and no replay is under way. It must call nothing of CUDA's. False:
// CUDA has refused, and it will not run.
bool keep_with_graph(const Capture& capture, void (*release)(void*), void* argument);

// How much memory of a GPU is free.

constexpr std::uint64_t kNotKnown = UINT64_MAX;

// The free bytes of that GPU, whichever the calling thread has; less than 0: the host, whose
// streams may have a GPU that is none. kNotKnown, more than anybody asks for, if CUDA does not say.
// Nothing waits for the GPU, but it may wait for another thread's call of CUDA: not for a thread or
// under a lock that GPUs wait for.
std::uint64_t free_bytes_of_gpu(int device);

}  // namespace thinwire::nccl
