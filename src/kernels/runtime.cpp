// CUDA's runtime for the device layer's code: the kernels' library has it, for all libraries that
// ask. Each name is this library's own, as those of a static runtime are.
#include "kernels/open.h"

namespace {

// Returned by every call if the library cannot be used.
constexpr cudaError_t kAbsent = cudaErrorSharedObjectInitFailed;

}  // namespace

extern "C" {

#define RUNTIME(name, parameters, ...)                              \
  cudaError_t name parameters {                                     \
    const auto* const opened = thinwire::kernels::table();          \
    return opened == nullptr ? kAbsent : opened->name(__VA_ARGS__); \
  }
#include "kernels/functions.def"

const char* cudaGetErrorString(cudaError_t error) {
  const auto* const opened = thinwire::kernels::table();
  return opened == nullptr ? thinwire::kernels::open_status().message().c_str()
                           : opened->cudaGetErrorString(error);
}

cudaError_t cudaGetLastError() {
  const auto* const opened = thinwire::kernels::table();
  return opened == nullptr ? kAbsent : opened->cudaGetLastError();
}

}  // extern "C"
