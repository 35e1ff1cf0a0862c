#include "device/enqueue.h"

#include "device/driver.h"

namespace thinwire::device {
namespace {

__global__ void report_words(const Outcome* from, Outcome* to, std::uint32_t count) {
  for (std::uint32_t at = threadIdx.x; at < count; at += blockDim.x) {
    const Outcome word = from[at] | kKnown;
    __threadfence_system();
    static_cast<volatile Outcome*>(to)[at] = word;
  }
}

Status status_of(cudaError_t error, const char* what) {
  return error == cudaSuccess ? Status{} : device_error(what, error);
}

}  // namespace

Status enqueue_copy(std::byte* to, const std::byte* from, std::uint64_t bytes,
                    StreamHandle stream) {
  if (bytes == 0 || to == from) return {};
  return status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream),
                   "cannot enqueue a copy");
}

Status enqueue_clear(std::byte* at, std::uint64_t bytes, StreamHandle stream) {
  if (bytes == 0) return {};
  return status_of(cudaMemsetAsync(at, 0, bytes, stream), "cannot enqueue zeros");
}

Status enqueue_report(const Outcome* from, Outcome* to, std::uint32_t count, StreamHandle stream) {
  report_words<<<1, 32, 0, stream>>>(from, to, count);
  return status_of(cudaGetLastError(), "cannot start a kernel");
}

Result<bool> is_idle(StreamHandle stream) {
  const cudaError_t error = cudaStreamQuery(stream);
  if (error == cudaSuccess || error == cudaErrorNotReady) return error == cudaSuccess;
  return device_error("the GPU failed", error);
}

}  // namespace thinwire::device
