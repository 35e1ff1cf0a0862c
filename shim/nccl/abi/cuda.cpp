#include "abi/cuda.h"

#include <dlfcn.h>

#include "abi/real.h"
#include "thinwire/thinwire.h"

namespace thinwire::nccl {
namespace {

using LaunchHostFunction = int (*)(cudaStream_t stream, void (*function)(void*), void* argument);

LaunchHostFunction host_function() {
  static const auto found = reinterpret_cast<LaunchHostFunction>(find("cudaLaunchHostFunc"));
  return found;
}

// The driver's functions; its status codes are ints, 0 for success.
struct Driver {
  int (*stream_id)(cudaStream_t stream, unsigned long long* id) = nullptr;
  int (*is_capturing)(cudaStream_t stream, int* state) = nullptr;
};

const Driver& driver() {
  static const Driver found = [] {
    Driver made;
    void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return made;
    made.stream_id = reinterpret_cast<decltype(made.stream_id)>(dlsym(library, "cuStreamGetId"));
    made.is_capturing =
        reinterpret_cast<decltype(made.is_capturing)>(dlsym(library, "cuStreamIsCapturing"));
    return made;
  }();
  return found;
}

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

int launch_on_host(cudaStream_t stream, void (*function)(void*), void* argument) {
  return host_function()(stream, function, argument);
}

std::uint64_t identity_of(cudaStream_t stream) {
  unsigned long long id = 0;
  const bool told = streams() == Streams::kCuda && driver().stream_id != nullptr &&
                    driver().stream_id(stream, &id) == 0;
  return told ? id : reinterpret_cast<std::uintptr_t>(stream);
}

bool is_captured(cudaStream_t stream) {
  if (streams() != Streams::kCuda || driver().is_capturing == nullptr) return false;
  int state = 0;
  // An error, as of the default stream while another one is captured, is NCCL's to tell.
  return driver().is_capturing(stream, &state) != 0 || state != 0;
}

}  // namespace thinwire::nccl
