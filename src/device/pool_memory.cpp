#include "device/pool_parts.h"

#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include "device/driver.h"

namespace thinwire::device {
namespace {

constexpr std::uint64_t kHugePage = 2u << 20;

// `bytes`, whole huge pages, aligned to one; nullptr if the system refuses.
std::byte* map_aligned(std::uint64_t bytes) {
  void* const mapped =
      mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::uint64_t before = -reinterpret_cast<std::uintptr_t>(begin) % kHugePage;
  if (before != 0) munmap(begin, before);
  munmap(begin + before + bytes, kHugePage - before);
  return begin + before;
}

// Whether the GPUs reach the mapping under its own address from now on.
bool register_mapping(std::byte* data, std::uint64_t bytes) {
  constexpr unsigned kFlags = cudaHostRegisterPortable | cudaHostRegisterMapped;
  if (cudaHostRegister(data, bytes, kFlags) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  void* seen = nullptr;
  if (cudaHostGetDevicePointer(&seen, data, 0) == cudaSuccess && seen == data) return true;
  cudaGetLastError();
  cudaHostUnregister(data);
  return false;
}

std::byte* allocate_in_huge_pages(std::uint64_t bytes) {
  std::byte* const data = map_aligned(bytes);
  if (data == nullptr) return nullptr;
  // Hints, which an older system may not know. A child process that wrote to a page would take it
  // away from under the GPU.
  madvise(data, bytes, MADV_HUGEPAGE);
  madvise(data, bytes, MADV_DONTFORK);
#ifdef MADV_POPULATE_WRITE
  madvise(data, bytes, MADV_POPULATE_WRITE);
#endif
  if (register_mapping(data, bytes)) return data;
  munmap(data, bytes);
  return nullptr;
}

}  // namespace

Result<Allocation> allocate_pinned(std::uint64_t bytes) {
  if (bytes >= kHugePage) {
    const std::uint64_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    if (std::byte* const data = allocate_in_huge_pages(whole)) return Allocation{data, whole};
  }
  void* data = nullptr;
  const cudaError_t error =
      cudaHostAlloc(&data, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  if (error == cudaSuccess) return Allocation{static_cast<std::byte*>(data), 0};
  return device_error("cannot allocate pinned memory", error);
}

void free_pinned(const Allocation& memory) {
  if (memory.mapped_bytes == 0) {
    cudaFreeHost(memory.data);
    return;
  }
  cudaHostUnregister(memory.data);
  munmap(memory.data, memory.mapped_bytes);
}

namespace {

constexpr std::uintptr_t kAlignment = 256;

Result<Allocation> ask_program(const Allocator& program, int device, std::uint64_t bytes) {
  void* data = nullptr;
  if (program.allocate(program.context, device, bytes, &data) != 0 || data == nullptr) {
    return {StatusCode::kDevice, "the program's allocator has no GPU memory"};
  }
  if (reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0) {
    return Allocation{static_cast<std::byte*>(data), 0, &program};
  }
  program.release(program.context, device, data, bytes);
  return {StatusCode::kDevice, "the program's allocator gave memory that is not aligned to 256"};
}

}  // namespace

Result<Allocation> allocate_on_device(const Allocator* program, int device, std::uint64_t bytes) {
  if (program != nullptr) return ask_program(*program, device, bytes);
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes);
  if (error == cudaSuccess) return Allocation{static_cast<std::byte*>(data)};
  return device_error("cannot allocate GPU memory", error);
}

void free_on_device(const Allocation& memory, int device, std::uint64_t bytes) {
  if (memory.from != nullptr) {
    memory.from->release(memory.from->context, device, memory.data, bytes);
  } else {
    cudaFree(memory.data);
  }
}

}  // namespace thinwire::device
