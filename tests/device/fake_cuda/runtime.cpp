// Memory, devices, errors, and what kernels may have.
#include <sys/mman.h>

#include <utility>

#include "fake_cuda/fake_cuda.h"
#include "fake_cuda/state.h"

namespace thinwire::fake_cuda {

State& state() {
  static auto* const all = new State;
  return *all;
}

namespace {

thread_local int current = 0;
thread_local cudaError_t last = cudaSuccess;

cudaError_t allocate_for(void** pointer, std::size_t bytes, int device) {
  const std::lock_guard lock(state().mutex);
  // Mapped: what lies in the heap is taken for the host's without a question.
  *pointer = mmap(nullptr, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (*pointer == MAP_FAILED) return note(cudaErrorMemoryAllocation);
  state().memory[static_cast<std::byte*>(*pointer)] = {device, bytes};
  return cudaSuccess;
}

cudaError_t release(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  const std::lock_guard lock(state().mutex);
  const auto found = state().memory.find(static_cast<std::byte*>(pointer));
  if (found == state().memory.end()) return note(cudaErrorInvalidValue);
  munmap(pointer, found->second.bytes + 1);
  state().memory.erase(found);
  return cudaSuccess;
}

}  // namespace

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

int& current_device() { return current; }

std::byte* allocate(int device, std::size_t bytes) {
  void* pointer = nullptr;
  allocate_for(&pointer, bytes, device);
  return static_cast<std::byte*>(pointer);
}

void make_alike() { state().shared_bytes.fill(kSharedBytes[1]); }

void count(const std::string& name) {
  const std::lock_guard lock(state().mutex);
  ++state().calls[name];
}

std::map<std::string, int> take_calls() {
  const std::lock_guard lock(state().mutex);
  return std::exchange(state().calls, {});
}

void use(int device) { current_device() = device; }

void end_context(int device) { state().has_context[static_cast<std::size_t>(device)] = false; }
bool has_context(int device) { return state().has_context[static_cast<std::size_t>(device)]; }

}  // namespace thinwire::fake_cuda

using namespace thinwire::fake_cuda;

extern "C" {

cudaError_t cudaGetLastError() {
  count(__func__);
  return std::exchange(last, cudaSuccess);
}
const char* cudaGetErrorString(cudaError_t) {
  count(__func__);
  return "an error of the fake CUDA";
}

cudaError_t cudaGetDeviceCount(int* devices) {
  count(__func__);
  *devices = kDevices;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  count(__func__);
  *device = current_device();
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  count(__func__);
  if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin)
    *value = state().shared_bytes[static_cast<std::size_t>(device)];
  else if (attribute == cudaDevAttrMultiProcessorCount)
    *value = state().processors;
  else
    return note(cudaErrorInvalidValue);
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  count(__func__);
  return allocate_for(pointer, bytes, current);
}
cudaError_t cudaFree(void* pointer) {
  count(__func__);
  return release(pointer);
}
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  count(__func__);
  return allocate_for(pointer, bytes, kPinned);
}
cudaError_t cudaFreeHost(void* pointer) {
  count(__func__);
  return release(pointer);
}
cudaError_t cudaHostRegister(void*, size_t, unsigned) {
  count(__func__);
  return note(cudaErrorNotSupported);
}
cudaError_t cudaHostUnregister(void*) {
  count(__func__);
  return note(cudaErrorNotSupported);
}
cudaError_t cudaHostGetDevicePointer(void**, void*, unsigned) {
  count(__func__);
  return note(cudaErrorNotSupported);
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  count(__func__);
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  count(__func__);
  *attributes = {};
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int,
                                                                   size_t, unsigned) {
  count(__func__);
  *blocks = state().blocks_a_processor;
  return cudaSuccess;
}

}  // extern "C"
