#include "native/cuda.h"

#include <dlfcn.h>

#include <cstddef>
#include <map>
#include <mutex>

#include "native/real.h"
#include "thinwire/thinwire.h"

namespace thinwire::nccl {
namespace {

using LaunchHostFunction = int (*)(cudaStream_t stream, void (*function)(void*), void* argument);

LaunchHostFunction host_function() {
  static const auto found = reinterpret_cast<LaunchHostFunction>(find("cudaLaunchHostFunc"));
  return found;
}

// The functions of CUDA that are called, of the driver or of a runtime with equal ones; their
// status codes are ints, 0 for success.
struct Driver {
  int (*stream_id)(cudaStream_t stream, unsigned long long* id) = nullptr;
  int (*capture_info)(cudaStream_t stream, int* state, unsigned long long* id, void** graph,
                      const void** nodes, std::size_t* count) = nullptr;
  int (*make_object)(void** object, void* argument, void (*release)(void*), unsigned count,
                     unsigned flags) = nullptr;
  int (*retain)(void* graph, void* object, unsigned count, unsigned flags) = nullptr;
  int (*drop)(void* object, unsigned count) = nullptr;
};

Driver found_driver() {
  Driver made;
  find_cuda(made.stream_id, "cudaStreamGetId", "cuStreamGetId");
  find_cuda(made.capture_info, "cudaStreamGetCaptureInfo_v2", "cuStreamGetCaptureInfo_v2");
  find_cuda(made.make_object, "cudaUserObjectCreate", "cuUserObjectCreate");
  find_cuda(made.retain, "cudaGraphRetainUserObject", "cuGraphRetainUserObject");
  find_cuda(made.drop, "cudaUserObjectRelease", "cuUserObjectRelease");
  return made;
}

const Driver& driver() {
  static const Driver once = found_driver();
  return once;
}

constexpr unsigned kNoSync = 1;       // CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
constexpr unsigned kMoveToGraph = 1;  // CU_GRAPH_USER_OBJECT_MOVE

Streams kind() {
  if (real().OnHostMemory != nullptr) {
    return host_function() == nullptr ? Streams::kNone : Streams::kHost;
  }
  std::uint32_t devices = 0;
  const bool usable = tw_device_count(&devices) == TW_OK && devices > 0;
  return usable && real().CommCuDevice != nullptr ? Streams::kCuda : Streams::kNone;
}

}  // namespace

Streams streams() {
  static const Streams found = kind();
  return found;
}

void* cuda_function(const char* of_host, const char* of_driver) {
  if (streams() == Streams::kHost) return of_host == nullptr ? nullptr : find(of_host);
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, of_driver);
}

int launch_on_host(cudaStream_t stream, void (*function)(void*), void* argument) {
  return host_function()(stream, function, argument);
}

std::uint64_t identity_of(cudaStream_t stream) {
  unsigned long long id = 0;
  const bool told = driver().stream_id != nullptr && driver().stream_id(stream, &id) == 0;
  return told ? id : reinterpret_cast<std::uintptr_t>(stream);
}

Capture capture_of(cudaStream_t stream) {
  Capture found;
  if (streams() == Streams::kNone || driver().capture_info == nullptr) return found;
  int state = 0;
  const int status =
      driver().capture_info(stream, &state, &found.id, &found.graph, nullptr, nullptr);
  // An error, as of the default stream while another one is captured, is NCCL's to tell.
  if (status != 0 || state > 1) return {Capture::State::kUnclear, 0, nullptr};
  if (state == 1) found.state = Capture::State::kActive;
  return found;
}

bool keep_with_graph(const Capture& capture, void (*release)(void*), void* argument) {
  const Driver& cuda = driver();
  if (cuda.make_object == nullptr || cuda.retain == nullptr || cuda.drop == nullptr) return false;
  void* object = nullptr;
  if (cuda.make_object(&object, argument, release, 1, kNoSync) != 0) return false;
  if (cuda.retain(capture.graph, object, 1, kMoveToGraph) == 0) return true;
  cuda.drop(object, 1);  // which runs it
  return false;
}

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
