// The C boundary: Status in, tw_status and the thread's last-error text out.
#pragma once

#include <new>

#include "base/status.h"
#include "thinwire/thinwire.h"

namespace thinwire::capi {

// Records the status' message for tw_last_error() and returns its code.
tw_status report(const Status& status);

// A null pointer or a struct whose `size` is not set.
tw_status misuse(const char* what);

// Runs `body` and turns an exception into a status: none may cross the C boundary.
template <typename Body>
tw_status guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return report({StatusCode::kInternal, "out of memory"});
  } catch (...) {
    return report({StatusCode::kInternal, "unexpected exception"});
  }
}

}  // namespace thinwire::capi
