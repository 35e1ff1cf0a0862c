#include "shim/mpi/message/completion.h"

#include "shim/mpi/message/deliver.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/guards.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

bool concerns_shim(int count, const MPI_Request* requests) {
  constexpr int kFew = 64;
  if (!requests_pending() || count <= 0 || requests == nullptr) return false;
  const bool goes_on = live_orphans.load(std::memory_order_relaxed) != 0 ||
                       running_requests.load(std::memory_order_relaxed) != 0;
  if (count > kFew || goes_on) return true;
  for (int at = 0; at < count; ++at) {
    if (continued_requests.may_have(requests[at]) || persistent_requests.may_have(requests[at])) {
      return true;
    }
  }
  give_up_guard();
  return false;
}

Completion::Completion(int count, MPI_Request* requests, std::byte* space, std::size_t bytes)
    : memory_(space, bytes, &process().system),
      user_(requests),
      native_(requests, requests + count, &memory_),
      statuses_(count, &memory_),
      errors_(count, MPI_SUCCESS, &memory_),
      entries_(count, &memory_) {
  give_up_guard();
  for (int at = 0; at < count; ++at) {
    if (native_[at] == MPI_REQUEST_NULL) continue;
    if (Persistent* persistent = find_persistent(native_[at])) {
      entries_[at].persistent = persistent;
      native_[at] = persistent->active;
      concerned_ = true;
    }
    if (native_[at] == MPI_REQUEST_NULL) continue;
    entries_[at].continuation = take_continuation(native_[at]);
    if (!entries_[at].continuation) continue;
    concerned_ = true;
    device_receives_ += entries_[at].continuation->destination.on_device;
  }
}

Completion::~Completion() {
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    Entry& entry = entries_[at];
    if (!entry.is_done && entry.continuation)
      put_continuation(native_[at], std::move(entry.continuation));
    if (entry.persistent != nullptr)
      entry.persistent->active = entry.is_done ? MPI_REQUEST_NULL : native_[at];
    else
      user_[at] = native_[at];
  }
  progress_orphans();
}

void Completion::overlap_device_receives() {
  if (device_receives_ < 2) return;
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    const ContinuationPointer& continuation = entries_[at].continuation;
    if (!continuation || !continuation->destination.on_device || continuation->delivered) continue;
    int done = 0;
    MPI_Status status{};
    // Whether to let others run meanwhile is the MPI's to say, as in its own waiting.
    while (!done) {
      if (real().Request_get_status(native_[at], &done, &status) != MPI_SUCCESS) return;
    }
    // The call that reports a truncated message takes care of it.
    begin_delivery(*continuation, status, status.MPI_ERROR);
  }
}

void Completion::begin(int at, const MPI_Status& status, int error) {
  if (entries_[at].continuation) begin_delivery(*entries_[at].continuation, status, error);
}

int Completion::complete(int at, MPI_Status& status, int error, MPI_Status* user) {
  Entry& entry = entries_[at];
  if (entry.continuation) {
    error = finish(*entry.continuation, status, error);
    entry.continuation.reset();
  }
  entry.is_done = true;
  copy_status(status, user);
  return error;
}

}  // namespace thinwire::mpi
