// Streams, and events, by which a stream waits for what is on another one.
#include "stream.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

#include "fake_cuda.h"

namespace {

unsigned long long next_id() {
  static std::atomic<unsigned long long> last{0};
  return ++last;
}

}  // namespace

CUstream_st::CUstream_st() : id(next_id()) {}

namespace fake_nccl {

CUstream_st& stream_of(cudaStream_t stream) {
  static auto* const of_null = new CUstream_st;
  return stream == nullptr ? *of_null : *stream;
}

}  // namespace fake_nccl

using fake_nccl::refuse_captured;
using fake_nccl::stream_of;

#define FAKE_EXPORTED extern "C" __attribute__((visibility("default")))

FAKE_EXPORTED int cudaStreamCreate(cudaStream_t* made) {
  *made = new CUstream_st;
  return 0;
}

FAKE_EXPORTED int cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return 0;
}

FAKE_EXPORTED int cudaStreamSynchronize(cudaStream_t stream) {
  if (const int error = refuse_captured(stream); error != 0) return error;
  stream_of(stream).wait();
  return 0;
}

FAKE_EXPORTED int cudaStreamQuery(cudaStream_t stream) {
  if (const int error = refuse_captured(stream); error != 0) return error;
  return stream_of(stream).idle() ? 0 : 600;
}

FAKE_EXPORTED int cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  if (const int error = refuse_captured(stream); error != 0) return error;
  *id = stream_of(stream).id;
  return 0;
}

FAKE_EXPORTED int cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  // As on a slow processor, which each of them takes so long.
  static const char* const named = std::getenv("FAKE_NCCL_FUNCTION_US");
  static const auto slow = std::chrono::microseconds(named == nullptr ? 0 : std::atoi(named));
  if (const int error = fake_nccl::capture_error(stream); error != 0) return error;
  const auto again = [=](cudaStream_t on) { cudaLaunchHostFunc(on, function, argument); };
  if (fake_nccl::is_kept(stream, again)) return 0;
  stream_of(stream).put([=] {
    if (slow.count() > 0) std::this_thread::sleep_for(slow);
    function(argument);
  });
  return 0;
}

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
