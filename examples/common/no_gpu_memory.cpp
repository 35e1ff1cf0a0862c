// In the place of gpu_memory.cpp, in a build without CUDA.
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "examples/common/memory.h"

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
