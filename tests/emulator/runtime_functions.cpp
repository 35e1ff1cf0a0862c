// The parts of the CUDA runtime that code with kernels needs besides, if these run.
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
  return true;
}();

}  // namespace

extern "C" {

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int,
                                                                   size_t, unsigned) {
  *blocks = 1;
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_step, const void* from, size_t from_step,
                              size_t row_bytes, size_t rows, cudaMemcpyKind, cudaStream_t stream) {
  return fake_cuda::enqueue(stream, [=] {
    for (size_t row = 0; row < rows; ++row) {
      std::memcpy(static_cast<char*>(to) + row * to_step,
                  static_cast<const char*>(from) + row * from_step, row_bytes);
    }
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  return fake_cuda::enqueue(stream, [=] { function(argument); });
}

}  // extern "C"
