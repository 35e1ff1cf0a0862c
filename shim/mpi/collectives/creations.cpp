#include "collectives/creations.h"

#include <memory>

#include "collectives/creation_count.h"
#include "process/shortcut.h"
#include "requests/continuations.h"

namespace thinwire::mpi {
namespace {

CreationCount g_creations;

// An MPI's call may be made of others of its calls, which find the wrappers.
thread_local int own_depth = 0;

// The creation by a call that does not block, until its request is complete or goes.
class PendingCreation : public Staged {
 public:
  ~PendingCreation() override { g_creations.end(); }
  int finish() override { return MPI_SUCCESS; }
};

}  // namespace

Creation::Creation() : counts_(kMadeOneAfterAnother && own_depth++ == 0 && shim_is_active()) {
  if (counts_) g_creations.begin();
}

Creation::~Creation() {
  if (kMadeOneAfterAnother) --own_depth;
  if (counts_) g_creations.end();
}

void Creation::goes_on(MPI_Request* request) {
  if (!counts_ || request == nullptr || is_complete(*request)) return;
  put_continuation(*request, std::make_unique<Continuation>(std::make_shared<PendingCreation>()));
  counts_ = false;
}

QuietTime::QuietTime() : has_begun_(g_creations.begin_quiet()) {
  if (has_begun_) ++own_depth;
}

QuietTime::~QuietTime() {
  if (!has_begun_) return;
  --own_depth;
  g_creations.end_quiet();
}

bool creations_are_under_way() { return !g_creations.is_idle(); }

}  // namespace thinwire::mpi
