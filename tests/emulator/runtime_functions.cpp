// Functions of the CUDA runtime that test programs call and the library does not, and the size of
// the GPU.
#include <cuda_runtime_api.h>

#include <cstring>

#include "fake_cuda/fake_cuda.h"
#include "fake_cuda/state.h"
#include "grid.h"

using namespace thinwire;

namespace {

// Grids that fill the GPU have blocks that wait for each other: all are under way at once.
[[maybe_unused]] const bool kIsSmall = [] {
  fake_cuda::make_alike();
  fake_cuda::state().processors = emulator::kBlocksAtOnce;
  fake_cuda::state().blocks_a_processor = 1;
  return true;
}();

}  // namespace

extern "C" {

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

// After what the default stream has; other streams go on.
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  cudaStreamSynchronize(cudaStreamLegacy);
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemset(void* at, int value, size_t bytes) {
  return cudaMemsetAsync(at, value, bytes, cudaStreamLegacy);
}

cudaError_t cudaDeviceSynchronize() {
  const std::lock_guard lock(fake_cuda::state().mutex);
  for (const auto& stream : fake_cuda::state().streams) {
    if (stream->device == fake_cuda::current_device()) cudaStreamSynchronize(stream.get());
  }
  return cudaSuccess;
}

}  // extern "C"
