#include "shim/mpi/message/late_calls.h"

#include <algorithm>

namespace thinwire::mpi {

void LateCalls::begin(LateCall& call, std::uint64_t number) {
  call.number = number;
  call.previous = nullptr;
  call.next = newest_;
  if (newest_ != nullptr) newest_->previous = &call;
  newest_ = &call;
}

void LateCalls::end(LateCall& call) {
  if (call.next != nullptr) call.next->previous = call.previous;
  (call.previous == nullptr ? newest_ : call.previous->next) = call.next;
}

bool LateCalls::is_anothers(const LateCall* own, std::uint64_t number, MPI_Request request) const {
  if (own != nullptr && own->number < number) return true;
  // Older ones follow.
  const LateCall* call = own == nullptr ? newest_ : own->next;
  for (; call != nullptr && call->number > number; call = call->next) {
    const MPI_Request* const end = call->requests + call->count;
    if (std::find(call->requests, end, request) != end) return true;
  }
  return false;
}

}  // namespace thinwire::mpi
