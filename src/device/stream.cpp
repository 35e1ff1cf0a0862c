#include "device/stream.h"

#include <cuda_runtime_api.h>

#include "device/driver.h"
#include "device/work_stream.h"

namespace thinwire::device {

int device_of_stream(StreamHandle stream, int fallback) {
  const bool is_default =
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  if (is_default) return fallback;
  int device = fallback;
  if (cudaStreamGetDevice(stream, &device) == cudaSuccess) return device;
  cudaGetLastError();
  return fallback;
}

bool is_capturing(StreamHandle stream) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &capture);
  if (error != cudaSuccess) cudaGetLastError();
  // The legacy stream takes part in every capture of a blocking stream.
  return error == cudaErrorStreamCaptureImplicit || capture != cudaStreamCaptureStatusNone;
}

Status wait_for(StreamHandle earlier, CUevent_st* event, StreamHandle later) {
  cudaError_t error = cudaEventRecord(event, earlier);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(later, event, 0);
  return device_status("cannot wait for the caller's stream", error);
}

Order::~Order() {
  if (last_ != nullptr) cudaEventDestroy(last_);
}

Status Order::begin(StreamHandle stream) {
  const cudaError_t error = last_ == nullptr
                                ? cudaEventCreateWithFlags(&last_, cudaEventDisableTiming)
                                : cudaStreamWaitEvent(stream, last_, 0);
  return device_status("cannot wait for the call before", error);
}

Status Order::end(StreamHandle stream) {
  return device_status("cannot tell the next call of this one", cudaEventRecord(last_, stream));
}

}  // namespace thinwire::device
