#include "shim/mpi/choose/watched.h"

#include "shim/mpi/choose/message_kinds.h"

namespace thinwire::mpi {

std::atomic<std::uintptr_t> watched_request{0};

void WatchedAmong::find(int count, const MPI_Request* requests) {
  if (requests == nullptr) return;
  for (int at = 0; at < count && at_ == nullptr; ++at) {
    if (number_of(requests[at]) == number_) at_ = &requests[at];
  }
  if (at_ != nullptr) begin();
}

void WatchedAmong::before_handler(int) {
  look();
  at_ = nullptr;
}

void WatchedAmong::look() const {
  if (*at_ == MPI_REQUEST_NULL) watched_is_complete(number_);
}

void forget_watched(MPI_Request request) {
  const std::uintptr_t watched = watched_request.load(std::memory_order_relaxed);
  if (watched != 0 && watched == number_of(request)) watched_is_lost(watched);
}

}  // namespace thinwire::mpi
