#include "device/copy.h"

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "device/context.h"
#include "device/driver.h"

namespace thinwire::device {
namespace {

// A device's stream for them, and events that are free. Never destroyed, for the reason that pools
// are not.
struct Queue {
  std::mutex mutex;
  cudaStream_t stream = nullptr;
  std::vector<cudaEvent_t> events;
};

Queue& queue_of(int device) {
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::unordered_map<int, std::unique_ptr<Queue>>;
  const std::lock_guard lock(*mutex);
  auto& queue = (*all)[device];
  if (queue == nullptr) queue = std::make_unique<Queue>();
  return *queue;
}

// Under the queue's lock, in the device's context.
cudaError_t take_event(Queue& queue, cudaEvent_t& event) {
  if (queue.events.empty()) return cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  event = queue.events.back();
  queue.events.pop_back();
  return cudaSuccess;
}

}  // namespace

Result<StartedCopy> start_copy(void* destination, const void* source, std::uint64_t bytes,
                               int device) {
  const auto guard = ContextGuard::enter(device);
  if (!guard.ok()) return guard.status();
  Queue& queue = queue_of(device);
  const std::lock_guard lock(queue.mutex);
  cudaError_t error = cudaSuccess;
  if (queue.stream == nullptr) {
    error = cudaStreamCreateWithFlags(&queue.stream, cudaStreamNonBlocking);
  }
  cudaEvent_t done = nullptr;
  if (error == cudaSuccess) error = take_event(queue, done);
  if (error == cudaSuccess && bytes != 0) {
    error = cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, queue.stream);
  }
  if (error == cudaSuccess) error = cudaEventRecord(done, queue.stream);
  if (error == cudaSuccess) return StartedCopy{device, done};
  if (done != nullptr) queue.events.push_back(done);
  // A copy that was enqueued may be on its way, and the caller's memory with it.
  if (queue.stream != nullptr) cudaStreamSynchronize(queue.stream);
  return device_error("cannot begin a copy to or from GPU memory", error);
}

Status finish_copy(const StartedCopy& copy) {
  const auto guard = ContextGuard::enter(copy.device);
  if (!guard.ok()) return guard.status();
  const cudaError_t error = cudaEventSynchronize(copy.done);
  Queue& queue = queue_of(copy.device);
  const std::lock_guard lock(queue.mutex);
  queue.events.push_back(copy.done);
  return device_status("the GPU failed", error);
}

}  // namespace thinwire::device
