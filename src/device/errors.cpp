#include <cuda_runtime_api.h>

#include <string>

#include "device/driver.h"

namespace thinwire::device {

Status device_error(const char* what, int error) {
  // The error that is told here must not be read again as the failure of something later.
  cudaGetLastError();
  return {StatusCode::kDevice,
          std::string(what) + ": " + cudaGetErrorString(static_cast<cudaError_t>(error))};
}

Status device_status(const char* what, int error) {
  return error == cudaSuccess ? Status{} : device_error(what, error);
}

}  // namespace thinwire::device
