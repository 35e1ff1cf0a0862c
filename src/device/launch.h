// Starting kernels: what came of the launch itself, whatever an earlier call has left behind in
// CUDA's last error. CUDA sources only.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/status.h"
#include "device/driver.h"

namespace thinwire::device {

struct Grid {
  std::uint64_t blocks;
  unsigned threads;
  std::size_t shared_bytes = 0;
};

// Enqueues kernel(arguments...); "cannot ...", with the cause, as kDevice if that fails.
template <typename... Parameters>
Status launch(const char* what, void (*kernel)(Parameters...), const Grid& grid,
              cudaStream_t stream, std::type_identity_t<Parameters>... arguments) {
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  return device_status(
      what, cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                             dim3(static_cast<unsigned>(grid.blocks)), dim3(grid.threads), pointers,
                             grid.shared_bytes, stream));
}

}  // namespace thinwire::device
