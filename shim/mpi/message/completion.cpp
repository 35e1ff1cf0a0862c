#include "shim/mpi/message/completion.h"

#include <algorithm>

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

int Told::order_of(std::size_t at, std::size_t count) const {
  const int place = static_cast<int>(at);
  if (how == How::kAll) return place;
  if (how == How::kOne) return indices == nullptr || *indices == place ? 0 : -1;
  const int told = std::clamp(*completed, 0, static_cast<int>(count));
  const int* const found = std::find(indices, indices + told, place);
  return found == indices + told ? -1 : static_cast<int>(found - indices);
}

const Settled* find_kept(std::span<const Kept> kept, std::size_t at) {
  const auto found = std::ranges::find(kept, at, &Kept::at);
  return found == kept.end() ? nullptr : &found->outcome;
}

Settled settle_early(ContinuationPointer continuation, const Told& told, int order, int error) {
  MPI_Status unknown{};
  if (order < 0) return settle(*continuation, unknown, error);
  MPI_Status& status = told.native[order];
  Settled outcome = settle(*continuation, status, error);
  MPI_Status* const user = status_at(told.users, order);
  if (user == MPI_STATUS_IGNORE) return outcome;
  if (user != &status) copy_status(status, user);
  if (told.how != Told::How::kOne) user->MPI_ERROR = outcome.error;
  return outcome;
}

Completion::Completion(int count, MPI_Request* requests, std::byte* space, std::size_t bytes)
    : memory_(space, bytes, &process().system),
      user_(requests),
      native_(requests, requests + count, &memory_),
      statuses_(count, &memory_),
      errors_(count, MPI_SUCCESS, &memory_),
      entries_(count, &memory_),
      put_back_(&memory_),
      kept_(&memory_) {
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
  UnderWay::begin();
}

Completion::~Completion() {
  end();
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    Entry& entry = entries_[at];
    // Open MPI frees requests that failed, without a word of all but the first.
    if (entry.is_done || native_[at] == MPI_REQUEST_NULL) continue;
    if (entry.continuation) put_continuation(native_[at], std::move(entry.continuation));
  }
  bring_up_to_date();
}

void Completion::bring_up_to_date() {
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    // The handler may have gone on with it.
    if (!put_back_.empty() && put_back_[at] == native_[at]) continue;
    const Entry& entry = entries_[at];
    if (entry.persistent != nullptr)
      entry.persistent->active = entry.is_done ? MPI_REQUEST_NULL : native_[at];
    else
      user_[at] = native_[at];
  }
}

int Completion::error_of(int order, int raised) const {
  if (order < 0) return raised;
  const auto place = static_cast<std::size_t>(order);
  if (knows_errors_) return errors_[place];
  return told_.how == Told::How::kOne ? raised : told_.native[place].MPI_ERROR;
}

void Completion::before_handler(int error) {
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    Entry& entry = entries_[at];
    if (!entry.continuation) continue;
    if (native_[at] != MPI_REQUEST_NULL) {
      entry.put_back = entry.continuation->number;
      put_continuation(native_[at], std::move(entry.continuation));
      continue;
    }
    const int order = told_.order_of(at, entries_.size());
    kept_.push_back(
        {at, settle_early(std::move(entry.continuation), told_, order, error_of(order, error))});
  }
  bring_up_to_date();
  put_back_ = native_;
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

// MPICH says that a call has succeeded whose error handler has returned, though not all requests
// are complete.
bool Completion::goes_on(std::size_t at) const {
  const Persistent* const persistent = entries_[at].persistent;
  const bool is_its_own_token = persistent != nullptr && native_[at] == user_[at];
  return entries_[at].put_back != 0 && native_[at] != MPI_REQUEST_NULL && !is_its_own_token;
}

int Completion::complete(int at, MPI_Status& status, int error, MPI_Status* user) {
  const auto place = static_cast<std::size_t>(at);
  Entry& entry = entries_[place];
  Settled outcome{error, nullptr};
  if (const Settled* const kept = find_kept(kept_, place)) {
    outcome = *kept;
  } else {
    // It may be complete since an error handler has returned.
    if (entry.put_back != 0 && !goes_on(place)) {
      entry.continuation = take_continuation_of(put_back_[place], entry.put_back, entry.put_back);
    }
    // Out of reach of error handlers that run meanwhile.
    const ContinuationPointer continuation = std::move(entry.continuation);
    if (continuation) outcome = settle(*continuation, status, error);
  }
  entry.is_done = !goes_on(place);
  copy_status(status, user);
  return outcome.raise();
}

}  // namespace thinwire::mpi
