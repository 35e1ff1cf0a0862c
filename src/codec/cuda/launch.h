// Starting a codec's kernel from the host.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>

#include "base/status.h"
#include "device/launch.h"

namespace thinwire::codec::cuda {

// The compute capability, times 10, from which on kernels take more shared memory than GPUs below
// it have.
inline constexpr int kSmallCodeBefore = 80;

inline Status launch_status(cudaError_t error) {
  return device::device_status("cannot start a codec", error);
}

// Enqueues a codec's kernel.
template <typename... Parameters>
Status launch(void (*kernel)(Parameters...), const device::Grid& grid, cudaStream_t stream,
              std::type_identity_t<Parameters>... arguments) {
  return device::launch("cannot start a codec", kernel, grid, stream, arguments...);
}

// Whether what is loaded of `kernel` is the code for compute capabilities below 8.0, which alone
// fits devices that have_small_blocks(); kUnsupported if it is not.
template <typename Kernel>
Status require_small_code(Kernel* kernel) {
  cudaFuncAttributes has{};
  const cudaError_t error = cudaFuncGetAttributes(&has, reinterpret_cast<const void*>(kernel));
  if (error != cudaSuccess) return launch_status(error);
  if (has.ptxVersion < kSmallCodeBefore) return {};
  return {StatusCode::kUnsupported,
          "this build has no code for GPUs with so little shared memory (compute capability 7.5)"};
}

// Allows `kernel` so much dynamic shared memory on the current device. Asked of the driver once a
// device; `kernel` must be the only one of its type that comes here.
template <typename Kernel>
Status allow_shared(Kernel* kernel, std::size_t bytes, std::atomic<std::uint64_t>& allowed) {
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) {
    return launch_status(error);
  }
  const std::uint64_t bit = std::uint64_t{1} << (device % 64);
  if ((allowed.load(std::memory_order_acquire) & bit) != 0) return {};
  const cudaError_t error =
      cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                           cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (error == cudaSuccess) allowed.fetch_or(bit, std::memory_order_release);
  return launch_status(error);
}

}  // namespace thinwire::codec::cuda
