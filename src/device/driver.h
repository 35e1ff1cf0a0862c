// The CUDA driver of this process, if it has loaded one. CUDA builds only.
#pragma once

#include <cuda.h>

#include "base/status.h"

namespace thinwire::device {

// The driver's functions that must not go through the CUDA runtime, which would initialise it.
struct Driver {
  decltype(&cuPointerGetAttributes) pointer_attributes;
  decltype(&cuCtxGetCurrent) current_context;
  decltype(&cuCtxSetCurrent) set_context;
  decltype(&cuDeviceGet) device_get;
  decltype(&cuDevicePrimaryCtxGetState) primary_state;
  decltype(&cuDevicePrimaryCtxRetain) retain_primary;
};

// nullptr until the process has loaded libcuda. A few nanoseconds then, tens on a machine that has
// a GPU: libraries may be loaded at any time.
const Driver* loaded_driver();

// The primary context of a device if the process has one already, else nullptr.
CUcontext known_primary(const Driver& driver, int device);

// "cannot ...: what the runtime says of `error`", as a kDevice status. `error` is a cudaError_t;
// the runtime's own note of its last one is cleared.
Status device_error(const char* what, int error);

// The same, and OK where there is no error.
Status device_status(const char* what, int error);

}  // namespace thinwire::device
