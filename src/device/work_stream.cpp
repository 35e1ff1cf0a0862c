#include "device/work_stream.h"

#include <cuda_runtime_api.h>

#include <array>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "device/context.h"
#include "device/driver.h"
#include "device/stream.h"

namespace thinwire::device {

struct WorkStreamState {
  int device = -1;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  Outcome* outcome = nullptr;  // one word of its own, as the stream and the event are
  Lease workspace;             // on the device; parked while it is idle
  std::uint64_t workspace_bytes = 0;
  std::uint64_t zero_bytes = 0;  // of the workspace, from its start
  bool failed = false;           // never to be used again
  bool busy = false;             // something may have been enqueued since its work was over
  std::array<Lease, WorkStream::kMostBorrowed> borrowed;
  int borrows = 0;
  ContextGuard guard;
};

namespace {

constexpr std::uint64_t kSmallestWorkspace = 256u << 10;
constexpr int kPollsBetweenQueries = 1 << 14;

// Never destroyed, for the reason that pools are not.
struct Idle {
  std::mutex mutex;
  std::unordered_map<int, std::vector<std::unique_ptr<WorkStreamState>>> by_device;
};

Idle& idle() {
  static auto* all = new Idle;
  return *all;
}

std::unique_ptr<WorkStreamState> take_idle(int device) {
  const std::lock_guard lock(idle().mutex);
  auto& streams = idle().by_device[device];
  if (streams.empty()) return nullptr;
  auto state = std::move(streams.back());
  streams.pop_back();
  if (state->workspace) unpark(state->workspace);
  return state;
}

// With its workspace as kernels left it, if the pool keeps so much idle.
void put_idle(std::unique_ptr<WorkStreamState> state) {
  if (state->workspace && !park(state->workspace)) {
    state->workspace = Lease();
    state->workspace_bytes = state->zero_bytes = 0;
  }
  const std::lock_guard lock(idle().mutex);
  idle().by_device[state->device].push_back(std::move(state));
}

Status create(WorkStreamState& state) {
  int least = 0;
  int greatest = 0;
  void* outcome = nullptr;
  cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
  if (error == cudaSuccess) {
    error = cudaStreamCreateWithPriority(&state.stream, cudaStreamNonBlocking, greatest);
  }
  if (error == cudaSuccess) {
    error = cudaEventCreateWithFlags(&state.event, cudaEventDisableTiming);
  }
  if (error == cudaSuccess) {
    error = cudaHostAlloc(&outcome, sizeof(Outcome), cudaHostAllocPortable | cudaHostAllocMapped);
  }
  if (error != cudaSuccess) return device_error("cannot prepare the GPU", error);
  state.outcome = static_cast<Outcome*>(outcome);
  *state.outcome = 0;
  return {};
}

// Grown to a power of two, so that it settles after a few messages.
Status grow_workspace(WorkStreamState& state, std::uint64_t bytes) {
  if (bytes <= state.workspace_bytes) return {};
  std::uint64_t size = kSmallestWorkspace;
  while (size < bytes) size *= 2;
  auto workspace = acquire_device(state.device, size, false);
  if (!workspace.ok()) return workspace.status();
  cudaError_t error = cudaMemsetAsync(workspace->data(), 0, size, state.stream);
  // Work may be under way in the one that goes back, and another work stream may have it next.
  if (state.workspace || error != cudaSuccess) {
    const cudaError_t waited = cudaStreamSynchronize(state.stream);
    if (error == cudaSuccess) error = waited;
  }
  if (error != cudaSuccess) return device_error("cannot clear a workspace", error);
  state.workspace = std::move(*workspace);
  state.workspace_bytes = size;
  state.zero_bytes = size;
  return {};
}

Status clear_workspace(WorkStreamState& state, std::uint64_t bytes) {
  if (bytes <= state.zero_bytes) return {};
  const cudaError_t error = cudaMemsetAsync(state.workspace.data() + state.zero_bytes, 0,
                                            bytes - state.zero_bytes, state.stream);
  if (error != cudaSuccess) return device_error("cannot clear a workspace", error);
  state.zero_bytes = bytes;
  return {};
}

void destroy(WorkStreamState& state) {
  cudaFreeHost(state.outcome);
  if (state.event != nullptr) cudaEventDestroy(state.event);
  if (state.stream != nullptr) cudaStreamDestroy(state.stream);
}

Outcome read(const Outcome* outcome) { return __atomic_load_n(outcome, __ATOMIC_ACQUIRE); }

}  // namespace

WorkStream::WorkStream(std::unique_ptr<WorkStreamState> state) : state_(std::move(state)) {}
WorkStream::WorkStream(WorkStream&&) noexcept = default;
WorkStream& WorkStream::operator=(WorkStream&& other) noexcept {
  if (this != &other) {
    let_go();
    state_ = std::move(other.state_);
  }
  return *this;
}

WorkStream::~WorkStream() { let_go(); }

void WorkStream::let_go() {
  if (state_ == nullptr) return;
  if (state_->busy && !state_->failed && finish().ok()) *state_->outcome = 0;
  state_->guard = ContextGuard();
  if (state_->failed) {
    // Its stream may still write: nothing of it can be freed, and nothing lent to others.
    state_.release();
    return;
  }
  while (state_->borrows > 0) state_->borrowed[--state_->borrows] = Lease();
  put_idle(std::move(state_));
}

Result<std::byte*> WorkStream::keep(Result<Lease> lease) {
  if (!lease.ok()) return lease.status();
  if (state_->borrows == kMostBorrowed) return {StatusCode::kInternal, "a work borrows too often"};
  std::byte* const data = lease->data();
  state_->borrowed[state_->borrows++] = std::move(*lease);
  return data;
}

Result<std::byte*> WorkStream::borrow_pinned(std::uint64_t bytes) {
  return keep(acquire_pinned(bytes));
}

Result<std::byte*> WorkStream::borrow_on_device(std::uint64_t bytes) {
  return keep(acquire_device(state_->device, bytes));
}

// Whoever asks for it enqueues something.
StreamHandle WorkStream::stream() const {
  state_->busy = true;
  return state_->stream;
}
std::byte* WorkStream::workspace() const { return state_->workspace.data(); }
Outcome* WorkStream::outcome() const { return state_->outcome; }

Result<Outcome> WorkStream::wait() {
  while (true) {
    for (int poll = 0; poll < kPollsBetweenQueries; ++poll) {
      if (const Outcome outcome = read(state_->outcome); outcome != 0) {
        *state_->outcome = 0;
        return outcome;
      }
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    const cudaError_t error = cudaStreamQuery(state_->stream);
    if (error == cudaErrorNotReady || (error == cudaSuccess && read(state_->outcome) != 0)) {
      continue;
    }
    state_->failed = true;
    if (error != cudaSuccess) return device_error("the GPU failed", error);
    return {StatusCode::kDevice, "the GPU's work ended without an outcome"};
  }
}

Result<Outcome> WorkStream::wait_for_last() {
  auto outcome = wait();
  if (outcome.ok()) state_->busy = false;
  return outcome;
}

Status WorkStream::finish() {
  const cudaError_t error = cudaStreamSynchronize(state_->stream);
  state_->busy = false;
  if (error == cudaSuccess) return {};
  state_->failed = true;
  return device_error("the GPU failed", error);
}

Status WorkStream::copy(void* destination, const void* source, std::uint64_t bytes) {
  if (bytes == 0) return {};
  state_->busy = true;
  const cudaError_t error =
      cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, state_->stream);
  if (error == cudaSuccess) return {};
  return device_error("cannot copy to or from GPU memory", error);
}

Status WorkStream::order_after(StreamHandle stream) {
  const int device = device_of_stream(stream, state_->device);
  if (device != state_->device) {
    // Its events are that device's; the wait may be any device's.
    auto other = acquire_work_stream(device, 0);
    return other.ok() ? wait_for(stream, other->state_->event, state_->stream) : other.status();
  }
  return wait_for(stream, state_->event, state_->stream);
}

void WorkStream::leave_context() { state_->guard = ContextGuard(); }

Status WorkStream::reserve(std::uint64_t bytes, bool leaves_zeros) {
  Status status = grow_workspace(*state_, bytes);
  if (leaves_zeros && status.ok()) status = clear_workspace(*state_, bytes);
  if (!leaves_zeros) state_->zero_bytes = 0;
  return status;
}

Result<WorkStream> acquire_work_stream(int device, std::uint64_t workspace_bytes) {
  auto guard = ContextGuard::enter(device);
  if (!guard.ok()) return guard.status();
  auto state = take_idle(device);
  if (state == nullptr) {
    state = std::make_unique<WorkStreamState>();
    state->device = device;
    if (Status status = create(*state); !status.ok()) {
      destroy(*state);
      return status;
    }
  }
  state->guard = std::move(*guard);
  WorkStream work(std::move(state));
  if (Status status = work.reserve(workspace_bytes); !status.ok()) return status;
  return work;
}

Result<int> device_count() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return device_error("no GPU can be used", error);
  return count;
}

}  // namespace thinwire::device
