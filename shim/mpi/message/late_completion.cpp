#include "shim/mpi/message/late_completion.h"

#include <algorithm>

#include "shim/mpi/message/deliver.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/guards.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// Without a value: only those of what completes are read.
template <typename Value>
Value* room_for(std::size_t count, std::pmr::memory_resource& memory) {
  return static_cast<Value*>(memory.allocate(count * sizeof(Value), alignof(Value)));
}

}  // namespace

bool LateCompletion::suffices() { return live_taken_before.load(std::memory_order_relaxed) == 0; }

LateCompletion::LateCompletion(int count, MPI_Request* requests, std::byte* space,
                               std::size_t bytes)
    : memory_(space, bytes, &process().system),
      count_(static_cast<std::size_t>(count)),
      user_(requests),
      before_(room_for<MPI_Request>(count_, memory_)),
      stand_ins_(&memory_),
      persistent_(&memory_),
      errors_(&memory_),
      put_back_(&memory_),
      kept_(&memory_) {
  give_up_guard();
  std::copy_n(requests, count_, before_);
  if (live_persistent.load(std::memory_order_relaxed) != 0) find_persistent_ones();
  call_.requests = before_;
  call_.count = count_;
  begin_late(call_);
  UnderWay::begin();
}

void LateCompletion::find_persistent_ones() {
  persistent_.resize(count_);
  if (find_persistent(before_, persistent_) == 0) return persistent_.clear();
  for (std::size_t at = 0; at < count_; ++at) {
    if (persistent_[at] != nullptr) before_[at] = persistent_[at]->active;
  }
  stand_ins_.assign(before_, before_ + count_);
}

LateCompletion::~LateCompletion() {
  end();
  if (!is_over_) end_late(call_);
  bring_up_to_date();
}

void LateCompletion::bring_up_to_date() {
  for (std::size_t at = 0; at < stand_ins_.size(); ++at) {
    // The handler may have gone on with it.
    if (!put_back_.empty() && put_back_[at] == stand_ins_[at]) continue;
    (persistent_[at] == nullptr ? user_[at] : persistent_[at]->active) = stand_ins_[at];
  }
}

bool LateCompletion::has_vanished(std::size_t at) {
  return before_[at] != MPI_REQUEST_NULL && requests()[at] == MPI_REQUEST_NULL;
}

void LateCompletion::before_handler(int error) {
  for (std::size_t at = 0; at < count_; ++at) {
    if (!has_vanished(at)) continue;
    const int order = told_.order_of(at, count_);
    if (order >= 0 && order < next_) continue;
    ContinuationPointer continuation = take_continuation_late(call_, before_[at]);
    if (!continuation) continue;
    int own = error;
    if (order >= 0 && told_.how != Told::How::kOne) {
      const auto place = static_cast<std::size_t>(order);
      own = errors_.empty() ? told_.native[place].MPI_ERROR : errors_[place];
    }
    kept_.push_back({at, settle_early(std::move(continuation), told_, order, own)});
  }
  end_late(call_);
  is_over_ = true;
  bring_up_to_date();
  put_back_ = stand_ins_;
}

void LateCompletion::drop_vanished() {
  if (is_over_) return;
  for (std::size_t at = 0; at < count_; ++at) {
    if (has_vanished(at)) take_continuation_late(call_, before_[at]);
  }
}

MPI_Status* LateCompletion::statuses(MPI_Status* users) {
  return users == MPI_STATUSES_IGNORE ? room_for<MPI_Status>(count_, memory_) : users;
}

int* LateCompletion::errors(int completed) {
  errors_.assign(static_cast<std::size_t>(completed), MPI_SUCCESS);
  return errors_.data();
}

bool LateCompletion::goes_on(std::size_t at) {
  const bool is_its_own_token = !persistent_.empty() && stand_ins_[at] == user_[at];
  return is_over_ && requests()[at] != MPI_REQUEST_NULL && !is_its_own_token;
}

// The continuation of a request that has completed.
ContinuationPointer LateCompletion::take(std::size_t at) {
  if (!is_over_) return take_continuation_late(call_, before_[at]);
  return goes_on(at) ? nullptr : take_continuation_of(before_[at], 1, call_.number);
}

int LateCompletion::complete(int at, MPI_Status& status, int error, MPI_Status* user) {
  const auto place = static_cast<std::size_t>(at);
  next_ = told_.order_of(place, count_) + 1;
  Settled outcome{error, nullptr};
  if (const Settled* const kept = find_kept(kept_, place)) {
    outcome = *kept;
  } else if (const ContinuationPointer continuation = take(place)) {
    outcome = settle(*continuation, status, error);
  }
  if (!goes_on(place) && !persistent_.empty() && persistent_[place] != nullptr)
    stand_ins_[place] = MPI_REQUEST_NULL;
  if (user != &status) copy_status(status, user);
  return outcome.raise();
}

}  // namespace thinwire::mpi
