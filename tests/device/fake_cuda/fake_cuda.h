// A CUDA runtime and driver out of host memory, for the device layer's host code: GPUs whose work
// runs as late as it may. What is enqueued on a stream runs when somebody waits for it or asks how
// far it is, not before, so that whoever lets go of memory too early is seen.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>

namespace thinwire::fake_cuda {

inline constexpr int kDevices = 2;

// Shared memory that a thread block may have, as of compute capabilities 7.5 and 9.0.
inline constexpr int kSharedBytes[kDevices] = {64 * 1024, 227 * 1024};

// Makes both devices ones of compute capability 9.0; before the library asks for the first time.
void make_alike();

// The number of operations that are enqueued and have not run, on all streams.
std::size_t pending();

// Enqueues work of the test's.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

// Work that is enqueued on the stream from the first call to the second does not run: the second
// one returns it.
void begin_capture(cudaStream_t stream);
std::deque<std::function<void()>> end_capture(cudaStream_t stream);

// Memory of a device, and a stream of one, as a program has them.
std::byte* allocate(int device, std::size_t bytes);
cudaStream_t make_stream(int device);

// Has the next call that enqueues a kernel, or anything else, fail with that error.
void fail_next_launch(cudaError_t error);

// Makes a device's context the thread's current one; -1: none is.
void use(int device);

// As of a process that has no context of that device yet; and whether it has one by now.
void end_context(int device);
bool has_context(int device);

// Kernels launched since the start.
int launches();

// The calls of CUDA that were made since the last look, by name; launches by that of the kernel, if
// kernels.cpp is linked.
std::map<std::string, int> take_calls();

}  // namespace thinwire::fake_cuda
