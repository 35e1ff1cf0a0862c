#include "shim/mpi/native/under_way.h"

#include "shim/mpi/native/stack_frame.h"

namespace thinwire::mpi {

namespace {

// No static room: the library is opened late as well.
constinit thread_local UnderWay* newest_under_way = nullptr;
constinit thread_local bool puts_in_order = false;

}  // namespace

void UnderWay::begin() {
  UnderWay*& newest = newest_under_way;
  next_ = newest;
  from_ = &newest;
  if (next_ != nullptr) next_->from_ = &next_;
  newest = this;
}

void put_in_order(int error) {
  if (newest_under_way == nullptr) return;
  const OwnStack stack;
  puts_in_order = true;
  for (UnderWay* at = newest_under_way; at != nullptr;) {
    UnderWay* const next = at->next_;
    // A user-level thread that waits in its call is no part of what the handler may leave.
    if (stack.has_caller(at)) {
      at->end();
      at->before_handler(error);
    }
    at = next;
  }
  puts_in_order = false;
}

bool is_putting_in_order() { return puts_in_order; }

}  // namespace thinwire::mpi
