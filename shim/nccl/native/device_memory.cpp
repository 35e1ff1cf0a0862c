#include "native/device_memory.h"

#include <cstddef>
#include <map>
#include <mutex>

#include "native/cuda.h"

namespace thinwire::nccl {
namespace {

// Functions of the driver, or of a runtime with an equal one, which has no contexts. 0 for success.
struct MemoryFunctions {
  int (*memory)(std::size_t* free, std::size_t* whole) = nullptr;
  int (*device)(int* device, int number) = nullptr;
  int (*retain)(void** context, int device) = nullptr;
  int (*push)(void* context) = nullptr;
  int (*pop)(void** context) = nullptr;
  bool has_contexts() const { return device && retain && push && pop; }
};

MemoryFunctions found_memory_functions() {
  MemoryFunctions made;
  find_cuda(made.memory, "cudaMemGetInfo", "cuMemGetInfo_v2");
  find_cuda(made.device, nullptr, "cuDeviceGet");
  find_cuda(made.retain, nullptr, "cuDevicePrimaryCtxRetain");
  find_cuda(made.push, nullptr, "cuCtxPushCurrent_v2");
  find_cuda(made.pop, nullptr, "cuCtxPopCurrent_v2");
  return made;
}

const MemoryFunctions& memory_functions() {
  static const MemoryFunctions once = found_memory_functions();
  return once;
}

// Kept for the life of the process, as NCCL keeps it for the communicator's.
void* context_of(int device) {
  static std::mutex mutex;
  static auto* const contexts = new std::map<int, void*>;
  const std::lock_guard lock(mutex);
  void*& context = (*contexts)[device];
  int handle = 0;
  if (context != nullptr || memory_functions().device(&handle, device) != 0) return context;
  if (memory_functions().retain(&context, handle) != 0) context = nullptr;
  return context;
}

}  // namespace

std::uint64_t free_bytes_of_gpu(int device) {
  const MemoryFunctions& cuda = memory_functions();
  if (cuda.memory == nullptr) return kNotKnown;
  const bool enters = device >= 0 && cuda.has_contexts();
  void* const context = enters ? context_of(device) : nullptr;
  if (enters && (context == nullptr || cuda.push(context) != 0)) return kNotKnown;
  std::size_t free = 0, whole = 0;
  const bool is_told = cuda.memory(&free, &whole) == 0;
  void* left = nullptr;
  if (enters) cuda.pop(&left);
  return is_told ? free : kNotKnown;
}

}  // namespace thinwire::nccl
