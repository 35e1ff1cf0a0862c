// Events: a stream waits for what is on another one.
#include <condition_variable>
#include <memory>
#include <mutex>

#include "fake_cuda.h"
#include "stream.h"

namespace fake_nccl {

// A place on a stream.
class Point {
 public:
  void reach() {
    const std::lock_guard lock(mutex_);
    is_reached_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_reached_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_reached_ = false;
};

}  // namespace fake_nccl

struct CUevent_st {
  std::mutex mutex;
  std::shared_ptr<fake_nccl::Point> last;  // none before it is recorded
};

#define FAKE_EXPORTED extern "C" __attribute__((visibility("default")))

FAKE_EXPORTED int cudaEventCreateWithFlags(cudaEvent_t* made, unsigned) {
  *made = new CUevent_st;
  return 0;
}

FAKE_EXPORTED int cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (const int error = fake_nccl::capture_error(stream); error != 0) return error;
  const auto again = [=](cudaStream_t on) { cudaEventRecord(event, on); };
  if (fake_nccl::is_kept(stream, again)) return 0;
  const auto made = std::make_shared<fake_nccl::Point>();
  {
    const std::lock_guard lock(event->mutex);
    event->last = made;
  }
  fake_nccl::stream_of(stream).put([made] { made->reach(); });
  return 0;
}

FAKE_EXPORTED int cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const int error = fake_nccl::capture_error(stream); error != 0) return error;
  const auto again = [=](cudaStream_t on) { cudaStreamWaitEvent(on, event, 0); };
  if (fake_nccl::is_kept(stream, again)) return 0;
  const std::lock_guard lock(event->mutex);
  if (event->last == nullptr) return 0;
  fake_nccl::stream_of(stream).put([last = event->last] { last->wait(); });
  return 0;
}

FAKE_EXPORTED int cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return 0;
}

namespace fake_nccl {

void join(const std::vector<cudaStream_t>& streams) {
  // A graph has one stream, and would keep the event.
  if (streams.size() < 2) return;
  CUevent_st event;
  for (const cudaStream_t each : streams) {
    if (each == streams.front()) continue;
    cudaEventRecord(&event, each);
    cudaStreamWaitEvent(streams.front(), &event, 0);
  }
  cudaEventRecord(&event, streams.front());
  for (const cudaStream_t each : streams) {
    if (each != streams.front()) cudaStreamWaitEvent(each, &event, 0);
  }
}

}  // namespace fake_nccl
