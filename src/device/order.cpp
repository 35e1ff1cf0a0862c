#include "device/order.h"

#include <cuda_runtime_api.h>

#include "device/driver.h"

namespace thinwire::device {

int device_of_stream(StreamHandle stream, int fallback) {
  if (stream == cudaStreamLegacy || stream == cudaStreamPerThread) return fallback;
  int device = fallback;
  return cudaStreamGetDevice(stream, &device) == cudaSuccess ? device : fallback;
}

Status wait_for(StreamHandle earlier, CUevent_st* event, StreamHandle later) {
  cudaError_t error = cudaEventRecord(event, earlier);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(later, event, 0);
  return device_status("cannot wait for the caller's stream", error);
}

}  // namespace thinwire::device
