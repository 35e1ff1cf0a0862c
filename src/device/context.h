// Contexts: the library works in each device's primary one and leaves the caller's as it was. CUDA
// builds only.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "base/status.h"
#include "device/driver.h"

namespace thinwire::device {

// The primary context of a device if the process has one already, else nullptr.
CUcontext known_primary(const Driver& driver, int device);

// Makes a device's primary context current for this thread, and allows calls that a stream capture
// elsewhere in the process would forbid; puts both back at the end of its life.
class ContextGuard {
 public:
  ContextGuard() = default;
  ContextGuard(ContextGuard&& other) noexcept { swap(other); }
  ContextGuard& operator=(ContextGuard&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ContextGuard();

  static Result<ContextGuard> enter(int device);

 private:
  void swap(ContextGuard& other) noexcept;

  const Driver* driver_ = nullptr;
  CUcontext before_ = nullptr;
  bool changed_ = false;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace thinwire::device
