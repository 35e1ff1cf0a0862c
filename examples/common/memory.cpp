// Memory of both places; in a build without CUDA the host's alone.
#include "examples/common/memory.h"

#ifdef EXAMPLES_CUDA

#include <cstdlib>
#include <cstring>
#include <new>

#include "examples/common/cuda_error.h"

namespace examples {
namespace {

// Without it no call of CUDA is made: this build also runs if there is no driver.
bool g_has_gpu = false;

}  // namespace

bool choose_gpu(int local_rank, std::string* error) {
  int count = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count == 0) status = cudaErrorNoDevice;
  if (status == cudaSuccess) status = cudaSetDevice(local_rank % count);
  g_has_gpu = status == cudaSuccess;
  if (g_has_gpu) return true;
  *error = std::string("there is no GPU to use here (") + cudaGetErrorString(status) + ")";
  return false;
}

void* allocate(Place place, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  switch (place) {
    case Place::kHost:
      memory = std::calloc(bytes, 1);
      if (memory == nullptr) throw std::bad_alloc();
      break;
    case Place::kPinned:
      check(cudaMallocHost(&memory, bytes), "pinned memory");
      std::memset(memory, 0, bytes);
      break;
    case Place::kGpu:
      check(cudaMalloc(&memory, bytes), "GPU memory");
      check(cudaMemset(memory, 0, bytes), "clearing GPU memory");
      break;
  }
  return memory;
}

void release(Place place, void* memory) noexcept {
  if (place == Place::kHost) std::free(memory);
  if (memory == nullptr) return;
  if (place == Place::kPinned) cudaFreeHost(memory);
  if (place == Place::kGpu) cudaFree(memory);
}

void copy_bytes(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  if (!g_has_gpu) {
    std::memcpy(target, source, bytes);
    return;
  }
  check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault), "copying values");
}

void wait_for_gpu() {
  if (g_has_gpu) check(cudaDeviceSynchronize(), "waiting for the GPU");
}

}  // namespace examples

#else

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

namespace examples {
namespace {

constexpr const char* kNoGpu = "this build has no GPU side: it was made without nvcc";

}  // namespace

bool choose_gpu(int, std::string* error) {
  *error = kNoGpu;
  return false;
}

void* allocate(Place place, std::size_t bytes) {
  if (place != Place::kHost) throw std::runtime_error(kNoGpu);
  if (bytes == 0) return nullptr;
  void* memory = std::calloc(bytes, 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release(Place, void* memory) noexcept { std::free(memory); }

void copy_bytes(void* target, const void* source, std::size_t bytes) {
  if (bytes > 0) std::memcpy(target, source, bytes);
}

void wait_for_gpu() {}

}  // namespace examples

#endif
