// Streams, events, and the work that is enqueued.
#include <cstring>
#include <utility>

#include "fake_cuda/fake_cuda.h"
#include "fake_cuda/state.h"

using namespace thinwire::fake_cuda;

// CUDA's handle of an event.
struct CUevent_st {
  int device = 0;
  CUstream_st* stream = nullptr;  // that it was recorded on
};

namespace {

// The stream that a handle stands for: a device's default one has several.
CUstream_st* known(cudaStream_t stream) {
  const bool is_default =
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  if (!is_default) return stream;
  const std::lock_guard lock(state().mutex);
  cudaStream_t& made = state().default_streams[static_cast<std::size_t>(current_device())];
  if (made == nullptr) made = make_stream(current_device());
  return made;
}

// The state's lock is recursive: work may enqueue more.
void run_all(CUstream_st* stream) {
  const std::lock_guard lock(state().mutex);
  while (!stream->work.empty()) {
    const auto work = std::move(stream->work.front());
    stream->work.pop_front();
    work();
  }
}

std::string name_of(const void* kernel) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().kernels.find(kernel);
  return found == state().kernels.end() ? "cudaLaunchKernel" : found->second;
}

}  // namespace

namespace thinwire::fake_cuda {

std::size_t pending() {
  const std::lock_guard lock(state().mutex);
  std::size_t all = 0;
  for (const auto& stream : state().streams) all += stream->work.size();
  return all;
}

cudaError_t enqueue(cudaStream_t handle, std::function<void()> work) {
  const std::lock_guard lock(state().mutex);
  CUstream_st* const stream = known(handle);
  if (const cudaError_t failure = std::exchange(state().failure, cudaSuccess)) return note(failure);
  (stream->captured ? *stream->captured : stream->work).push_back(std::move(work));
  return cudaSuccess;
}

void begin_capture(cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  stream->captured.emplace();
}

std::deque<std::function<void()>> end_capture(cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  return std::exchange(stream->captured, std::nullopt)
      .value_or(std::deque<std::function<void()>>{});
}

cudaStream_t make_stream(int device) {
  const std::lock_guard lock(state().mutex);
  state().streams.push_back(std::make_unique<CUstream_st>());
  state().streams.back()->device = device;
  return state().streams.back().get();
}

void fail_next_launch(cudaError_t error) { state().failure = error; }

int launches() { return state().launches; }

}  // namespace thinwire::fake_cuda

extern "C" {

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  count(__func__);
  *least = *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  count(__func__);
  *stream = make_stream(current_device());
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  count(__func__);
  *stream = make_stream(current_device());
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  count(__func__);
  run_all(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  count(__func__);
  *device = known(stream)->device;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  count(__func__);
  run_all(known(stream));
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t handle) {
  count(__func__);
  const std::lock_guard lock(state().mutex);
  CUstream_st* const stream = known(handle);
  if (stream->work.empty()) return cudaSuccess;
  const auto work = std::move(stream->work.front());
  stream->work.pop_front();
  work();
  return note(cudaErrorNotReady);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  count(__func__);
  *status = known(stream)->captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  count(__func__);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  count(__func__);
  *event = new CUevent_st{current_device()};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  count(__func__);
  delete event;
  return cudaSuccess;
}
// An event and the stream that it is recorded on are of one device; that is what CUDA says.
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  count(__func__);
  const std::lock_guard lock(state().mutex);
  if (event->device != known(stream)->device) return note(cudaErrorInvalidResourceHandle);
  event->stream = known(stream);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  count(__func__);
  if (event->stream != nullptr) run_all(event->stream);
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  count(__func__);
  cudaStream_t const earlier = event->stream;
  return earlier == nullptr ? cudaSuccess : enqueue(stream, [earlier] { run_all(earlier); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  count(__func__);
  return enqueue(stream, [=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_step, const void* from, size_t from_step,
                              size_t row_bytes, size_t rows, cudaMemcpyKind, cudaStream_t stream) {
  count(__func__);
  return enqueue(stream, [=] {
    for (size_t row = 0; row < rows; ++row) {
      std::memcpy(static_cast<char*>(to) + row * to_step,
                  static_cast<const char*>(from) + row * from_step, row_bytes);
    }
  });
}
cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t stream) {
  count(__func__);
  return enqueue(stream, [=] { std::memset(at, value, bytes); });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  count(__func__);
  return enqueue(stream, [=] { function(argument); });
}
// The emulator, which does run kernels, launches none by this call.
cudaError_t cudaLaunchKernel(const void* kernel, dim3, dim3, void**, size_t, cudaStream_t stream) {
  count(name_of(kernel));
  return enqueue(stream, [] { ++state().launches; });
}

}  // extern "C"
