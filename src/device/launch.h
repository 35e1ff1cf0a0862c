// Starting kernels, and the shared memory that their blocks may have: what came of the launch
// itself, whatever an earlier call has left behind in CUDA's last error. CUDA sources only.
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
  unsigned layers = 1;  // so many times as many blocks, blockIdx.y
};

// Enqueues kernel(arguments...); "cannot ...", with the cause, as kDevice if that fails.
template <typename... Parameters>
Status launch(const char* what, void (*kernel)(Parameters...), const Grid& grid,
              cudaStream_t stream, std::type_identity_t<Parameters>... arguments) {
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  return device_status(what,
                       cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                                        dim3(static_cast<unsigned>(grid.blocks), grid.layers),
                                        dim3(grid.threads), pointers, grid.shared_bytes, stream));
}

// Most shared memory of a thread block, dynamic and static together, on the least GPU that the
// library runs on (compute capability 7.5), and on every one from 8.0 on.
inline constexpr std::uint32_t kLeastSharedBytes = 64 * 1024;
inline constexpr std::uint32_t kCommonSharedBytes = 99 * 1024;

// The part of it that kernels leave to their static shared memory.
inline constexpr std::uint32_t kStaticSharedBytes = 512;

// The current device's. All devices are asked once, at the first call; later calls cost a load
// where they are alike. THINWIRE_TEST_SHARED_BYTES, for tests, makes it less.
std::uint32_t shared_limit();

// Whether the current device has less than kCommonSharedBytes: it runs code for compute
// capabilities below 8.0 then, whose kernels take less.
inline bool has_small_blocks() { return shared_limit() < kCommonSharedBytes; }

}  // namespace thinwire::device
