// Stands for src/device/launch.h in code that the emulator runs: a launch enqueues the kernel as
// work of the fake CUDA's stream.
#pragma once

#pragma GCC system_header
#define launch launch_by_cuda
#include_next "device/launch.h"
#undef launch

#include "fake_cuda/fake_cuda.h"
#include "grid.h"

namespace thinwire::device {

template <typename... Parameters>
Status launch(const char* what, void (*kernel)(Parameters...), const Grid& grid,
              cudaStream_t stream, std::type_identity_t<Parameters>... arguments) {
  return device_status(what, fake_cuda::enqueue(stream, [=] {
                         emulator::run_grid(static_cast<unsigned>(grid.blocks), grid.layers,
                                            grid.threads, grid.shared_bytes,
                                            [&] { kernel(arguments...); });
                       }));
}

}  // namespace thinwire::device
