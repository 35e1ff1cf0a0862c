#include "native/events.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "native/cuda.h"

namespace thinwire::nccl {
namespace {

constexpr unsigned kDisableTiming = 2;  // CU_EVENT_DISABLE_TIMING

// Functions of the driver, or of a runtime with equal ones, which has no contexts. 0 for success.
struct Functions {
  int (*make)(void** event, unsigned flags) = nullptr;
  int (*record)(void* event, cudaStream_t stream) = nullptr;
  int (*wait)(cudaStream_t stream, void* event, unsigned flags) = nullptr;
  int (*device)(int* device, int number) = nullptr;
  int (*retain)(void** context, int device) = nullptr;
  int (*push)(void* context) = nullptr;
  int (*pop)(void** context) = nullptr;
  bool has_contexts() const { return device && retain && push && pop; }
};

Functions found() {
  Functions made;
  find_cuda(made.make, "cudaEventCreateWithFlags", "cuEventCreate");
  find_cuda(made.record, "cudaEventRecord", "cuEventRecord");
  find_cuda(made.wait, "cudaStreamWaitEvent", "cuStreamWaitEvent");
  find_cuda(made.device, nullptr, "cuDeviceGet");
  find_cuda(made.retain, nullptr, "cuDevicePrimaryCtxRetain");
  find_cuda(made.push, nullptr, "cuCtxPushCurrent_v2");
  find_cuda(made.pop, nullptr, "cuCtxPopCurrent_v2");
  return made;
}

const Functions& functions() {
  static const Functions once = found();
  return once;
}

// A device's event, as long as the process lives. What waits for it waits for what it was recorded
// after when that wait was enqueued, so that one serves again and again.
struct Event {
  void* event = nullptr;
  void* context = nullptr;  // none on the host

  explicit Event(int device) {
    const Functions& cuda = functions();
    if (cuda.has_contexts()) {
      int handle = 0;
      if (cuda.device(&handle, device) != 0 || cuda.retain(&context, handle) != 0) return;
    }
    if (cuda.make == nullptr || cuda.record == nullptr || cuda.wait == nullptr || !enter()) return;
    if (cuda.make(&event, kDisableTiming) != 0) event = nullptr;
    leave();
  }
  // The default stream is that of the context.
  bool enter() const { return context == nullptr || functions().push(context) == 0; }
  void leave() const {
    void* left = nullptr;
    if (context != nullptr) functions().pop(&left);
  }
};

// The first waits for all others, and then all others for it.
bool join_by(void* event, std::span<const cudaStream_t> streams) {
  const Functions& cuda = functions();
  const cudaStream_t first = streams.front();
  for (const cudaStream_t other : streams.subspan(1)) {
    if (cuda.record(event, other) != 0 || cuda.wait(first, event, 0) != 0) return false;
  }
  if (cuda.record(event, first) != 0) return false;
  return std::ranges::all_of(streams.subspan(1),
                             [&](cudaStream_t other) { return cuda.wait(other, event, 0) == 0; });
}

}  // namespace

bool join(int device, std::span<const cudaStream_t> streams) {
  if (streams.size() < 2) return true;
  static std::mutex mutex;
  static auto* const events = new std::map<int, Event>;
  const std::lock_guard lock(mutex);
  const Event& own = events->try_emplace(device, device).first->second;
  if (own.event == nullptr || !own.enter()) return false;
  const bool all = join_by(own.event, streams);
  own.leave();
  return all;
}

bool are_captured_alike(std::span<const cudaStream_t> streams) {
  if (streams.empty()) return true;
  const Capture first = capture_of(streams.front());
  return std::ranges::all_of(streams, [&](cudaStream_t each) {
    const Capture own = capture_of(each);
    return own.state == first.state && own.id == first.id && own.state != Capture::State::kUnclear;
  });
}

}  // namespace thinwire::nccl
