#include "device/place.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "device/driver.h"

namespace thinwire::device {
namespace {

struct Range {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;

  bool holds(const void* pointer) const {
    const auto at = reinterpret_cast<std::uintptr_t>(pointer);
    return at >= low && at < high;
  }
};

Range own_stack() {
  Range range;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return range;
  void* low = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  range.low = reinterpret_cast<std::uintptr_t>(low);
  range.high = range.low + bytes;
  return range;
}

// The address at which the heap after the program begins; it ends at sbrk(0).
std::uintptr_t heap_start() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with("[heap]")) return std::stoull(line, nullptr, 16);
  }
  return UINTPTR_MAX;
}

// Recognises memory that no driver can ever hand out: the thread's stack, and the heap that grows
// after the program. All other answers may change with the next allocation, so they are asked for
// each time.
bool is_certainly_host(const void* pointer) {
  thread_local const Range stack = own_stack();
  if (stack.holds(pointer)) return true;
  static const std::uintptr_t heap = heap_start();
  return Range{heap, reinterpret_cast<std::uintptr_t>(sbrk(0))}.holds(pointer);
}

struct Attributes {
  CUmemorytype type = static_cast<CUmemorytype>(0);
  int device = -1;
  unsigned managed = 0;
  CUcontext context = nullptr;
};

CUresult ask(const Driver& driver, const void* pointer, Attributes& found) {
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_CONTEXT};
  void* values[] = {&found.type, &found.device, &found.managed, &found.context};
  return driver.pointer_attributes(4, names, values, reinterpret_cast<CUdeviceptr>(pointer));
}

// A driver that was never started, or has ended, has no memory to point to. Any other failure, as
// after a device was lost, says nothing about the pointer.
bool has_no_memory(CUresult result) {
  return result == CUDA_ERROR_NOT_INITIALIZED || result == CUDA_ERROR_DEINITIALIZED;
}

}  // namespace

bool on_device(const void* pointer) {
  const Driver* driver = loaded_driver();
  if (driver == nullptr || pointer == nullptr || is_certainly_host(pointer)) return false;
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
  CUmemorytype type = static_cast<CUmemorytype>(0);
  unsigned managed = 0;
  void* values[] = {&type, &managed};
  const CUresult result =
      driver->pointer_attributes(2, names, values, reinterpret_cast<CUdeviceptr>(pointer));
  if (result != CUDA_SUCCESS) return !has_no_memory(result);
  return type == CU_MEMORYTYPE_DEVICE || managed != 0;
}

Result<Place> place_of(const void* pointer) {
  const Driver* driver = loaded_driver();
  if (driver == nullptr || pointer == nullptr || is_certainly_host(pointer)) return Place{};
  Attributes found;
  if (const CUresult result = ask(*driver, pointer, found); result != CUDA_SUCCESS) {
    if (has_no_memory(result)) return Place{};
    return {StatusCode::kDevice, "the driver does not say where a pointer points (error " +
                                     std::to_string(result) + "): was the GPU lost?"};
  }
  if (found.managed != 0) return Place{Memory::kManaged, found.device};
  if (found.type == CU_MEMORYTYPE_HOST) return Place{Memory::kPinned, -1};
  if (found.type != CU_MEMORYTYPE_DEVICE) return Place{};
  if (found.context != nullptr && found.context != known_primary(*driver, found.device)) {
    return {StatusCode::kUnsupported,
            "this GPU memory belongs to a context other than its device's primary one"};
  }
  return Place{Memory::kDevice, found.device};
}

}  // namespace thinwire::device
