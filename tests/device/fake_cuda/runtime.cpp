#include <sys/mman.h>

#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "fake_cuda/fake_cuda.h"
#include "fake_cuda/state.h"

// CUDA's handles.
struct CUstream_st {
  int device = 0;
  std::deque<std::function<void()>> work;
  std::optional<std::deque<std::function<void()>>> captured = {};  // if it is being captured
};

struct CUevent_st {
  int device = 0;
  CUstream_st* stream = nullptr;  // that it was recorded on, and how much of its work is before it
  std::uint64_t until = 0;
};

namespace thinwire::fake_cuda {

State& state() {
  static auto* const all = new State;
  return *all;
}

namespace {

thread_local int current = 0;
thread_local cudaError_t last = cudaSuccess;

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
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

cudaError_t add(cudaStream_t stream, std::function<void()> work) {
  const std::lock_guard lock(state().mutex);
  if (const cudaError_t failure = std::exchange(state().failure, cudaSuccess)) return note(failure);
  (stream->captured ? *stream->captured : stream->work).push_back(std::move(work));
  return cudaSuccess;
}

std::string name_of(const void* kernel) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().kernels.find(kernel);
  return found == state().kernels.end() ? "cudaLaunchKernel" : found->second;
}

cudaError_t allocate_for(void** pointer, std::size_t bytes, int device) {
  const std::lock_guard lock(state().mutex);
  // Mapped: what lies in the heap is taken for the host's without a question.
  *pointer = mmap(nullptr, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (*pointer == MAP_FAILED) return note(cudaErrorMemoryAllocation);
  state().memory[static_cast<std::byte*>(*pointer)] = {device, bytes};
  return cudaSuccess;
}

cudaError_t release(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  const std::lock_guard lock(state().mutex);
  const auto found = state().memory.find(static_cast<std::byte*>(pointer));
  if (found == state().memory.end()) return note(cudaErrorInvalidValue);
  munmap(pointer, found->second.bytes + 1);
  state().memory.erase(found);
  return cudaSuccess;
}

}  // namespace

int& current_device() { return current; }

std::size_t pending() {
  const std::lock_guard lock(state().mutex);
  std::size_t all = 0;
  for (const auto& stream : state().streams) all += stream->work.size();
  return all;
}

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) {
  return add(stream, std::move(work));
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

std::byte* allocate(int device, std::size_t bytes) {
  void* pointer = nullptr;
  allocate_for(&pointer, bytes, device);
  return static_cast<std::byte*>(pointer);
}

cudaStream_t make_stream(int device) {
  const std::lock_guard lock(state().mutex);
  state().streams.push_back(std::make_unique<CUstream_st>());
  state().streams.back()->device = device;
  return state().streams.back().get();
}

void fail_next_launch(cudaError_t error) { state().failure = error; }

int launches() { return state().launches; }

void make_alike() { state().shared_bytes.fill(kSharedBytes[1]); }

void count(const std::string& name) {
  const std::lock_guard lock(state().mutex);
  ++state().calls[name];
}

std::map<std::string, int> take_calls() {
  const std::lock_guard lock(state().mutex);
  return std::exchange(state().calls, {});
}

void use(int device) { current_device() = device; }

void end_context(int device) { state().has_context[static_cast<std::size_t>(device)] = false; }
bool has_context(int device) { return state().has_context[static_cast<std::size_t>(device)]; }

}  // namespace thinwire::fake_cuda

using namespace thinwire::fake_cuda;

extern "C" {

cudaError_t cudaGetLastError() {
  count(__func__);
  return std::exchange(last, cudaSuccess);
}
const char* cudaGetErrorString(cudaError_t) {
  count(__func__);
  return "an error of the fake CUDA";
}

cudaError_t cudaGetDeviceCount(int* devices) {
  count(__func__);
  *devices = kDevices;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  count(__func__);
  *device = current_device();
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  count(__func__);
  if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin)
    *value = state().shared_bytes[static_cast<std::size_t>(device)];
  else if (attribute == cudaDevAttrMultiProcessorCount)
    *value = state().processors;
  else
    return note(cudaErrorInvalidValue);
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  count(__func__);
  return allocate_for(pointer, bytes, current);
}
cudaError_t cudaFree(void* pointer) {
  count(__func__);
  return release(pointer);
}
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  count(__func__);
  return allocate_for(pointer, bytes, kPinned);
}
cudaError_t cudaFreeHost(void* pointer) {
  count(__func__);
  return release(pointer);
}
cudaError_t cudaHostRegister(void*, size_t, unsigned) {
  count(__func__);
  return note(cudaErrorNotSupported);
}
cudaError_t cudaHostUnregister(void*) {
  count(__func__);
  return note(cudaErrorNotSupported);
}
cudaError_t cudaHostGetDevicePointer(void**, void*, unsigned) {
  count(__func__);
  return note(cudaErrorNotSupported);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  count(__func__);
  *least = *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  count(__func__);
  *stream = make_stream(current);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  count(__func__);
  *stream = make_stream(current);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  count(__func__);
  run_all(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  count(__func__);
  *device = stream->device;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  count(__func__);
  run_all(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  count(__func__);
  const std::lock_guard lock(state().mutex);
  if (stream->work.empty()) return cudaSuccess;
  const auto work = std::move(stream->work.front());
  stream->work.pop_front();
  work();
  return note(cudaErrorNotReady);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  count(__func__);
  *status = stream->captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  count(__func__);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  count(__func__);
  *event = new CUevent_st{current};
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
  if (event->device != stream->device) return note(cudaErrorInvalidResourceHandle);
  event->stream = stream;
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
  return earlier == nullptr ? cudaSuccess : add(stream, [earlier] { run_all(earlier); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  count(__func__);
  return add(stream, [=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t stream) {
  count(__func__);
  return add(stream, [=] { std::memset(at, value, bytes); });
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3, dim3, void**, size_t, cudaStream_t stream) {
  count(name_of(kernel));
  return add(stream, [] { ++state().launches; });
}

}  // extern "C"
