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
      errors_(&memory_) {
  give_up_guard();
  std::copy_n(requests, count_, before_);
  if (live_persistent.load(std::memory_order_relaxed) != 0) find_persistent_ones();
  call_.requests = before_;
  call_.count = count_;
  begin_late(call_);
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
  end_late(call_);
  for (std::size_t at = 0; at < stand_ins_.size(); ++at) {
    (persistent_[at] == nullptr ? user_[at] : persistent_[at]->active) = stand_ins_[at];
  }
  progress_orphans();
}

MPI_Status* LateCompletion::statuses(MPI_Status* users) {
  return users == MPI_STATUSES_IGNORE ? room_for<MPI_Status>(count_, memory_) : users;
}

int* LateCompletion::errors(int completed) {
  errors_.assign(static_cast<std::size_t>(completed), MPI_SUCCESS);
  return errors_.data();
}

int LateCompletion::complete(int at, MPI_Status& status, int error, MPI_Status* user) {
  const auto place = static_cast<std::size_t>(at);
  if (const ContinuationPointer continuation = take_continuation_late(call_, before_[place])) {
    error = finish(*continuation, status, error);
  }
  if (!persistent_.empty() && persistent_[place] != nullptr) stand_ins_[place] = MPI_REQUEST_NULL;
  if (user != &status) copy_status(status, user);
  return error;
}

}  // namespace thinwire::mpi
