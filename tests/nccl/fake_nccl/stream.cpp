#include "stream.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "fake_cuda.h"

namespace {

unsigned long long next_id() {
  static std::atomic<unsigned long long> last{0};
  return ++last;
}

}  // namespace

CUstream_st::CUstream_st() : id(next_id()), worker_([this] { work(); }) {}

CUstream_st::~CUstream_st() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

void CUstream_st::put(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void CUstream_st::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return tasks_.empty(); });
}

bool CUstream_st::idle() {
  const std::lock_guard lock(mutex_);
  return tasks_.empty();
}

void CUstream_st::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const std::function<void()>& task = tasks_.front();  // a deque leaves it in its place
    lock.unlock();
    task();
    lock.lock();
    tasks_.pop_front();
    changed_.notify_all();
  }
}

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
