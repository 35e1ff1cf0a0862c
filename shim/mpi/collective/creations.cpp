#include "shim/mpi/collective/creations.h"

#include <memory>

#include "shim/mpi/collective/creation_count.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/native/stack_frame.h"
#include "shim/mpi/state/fast_path.h"

namespace thinwire::mpi {
namespace {

CreationCount g_creations;

// An MPI's call may be made of others of its calls, which find the wrappers.
thread_local OutermostCall own_call;
thread_local bool has_quiet_time = false;

void end_if_left() {
  const char here = 0;
  if (own_call.forget_if_left(&here)) g_creations.end();
}

// The creation by a call that does not block, until its request is complete or goes.
class PendingCreation : public Staged {
 public:
  ~PendingCreation() override { g_creations.end(); }
  bool may_be_freed() const override { return false; }
  Settled finish() override { return {}; }
};

}  // namespace

// The code that it returns to is the call's.
[[gnu::noinline]] Creation::Creation() {
  if (!kMadeOneAfterAnother || has_quiet_time || !shim_is_active()) return;
  bool left = false;
  counts_ = own_call.enter(this, __builtin_return_address(0), left);
  if (left) g_creations.end();
  if (counts_) g_creations.begin();
}

Creation::~Creation() {
  if (own_call.leave(this) && counts_) g_creations.end();
}

// The MPI is not asked whether it is complete: Open MPI goes on with its other requests then, and
// ranks that do so between several such calls hang.
void Creation::goes_on(MPI_Request* request) {
  if (!counts_ || request == nullptr || *request == MPI_REQUEST_NULL) return;
  put_continuation(*request, std::make_unique<Continuation>(std::make_shared<PendingCreation>()));
  counts_ = false;
}

QuietTime::QuietTime() {
  end_if_left();
  has_begun_ = g_creations.begin_quiet();
  has_quiet_time = has_begun_;
}

QuietTime::~QuietTime() {
  if (!has_begun_) return;
  has_quiet_time = false;
  g_creations.end_quiet();
}

bool creations_are_under_way() {
  end_if_left();
  return !g_creations.is_idle();
}

}  // namespace thinwire::mpi
