#include "collectives/creations.h"

#include <atomic>
#include <utility>

#include "process/shortcut.h"
#include "requests/continuations.h"

namespace thinwire::mpi {
namespace {

// How many are under way, or kLibrary.
constexpr int kLibrary = -1;
std::atomic<int> g_under_way{0};

// An MPI's call may be made of others of its calls, which find the wrappers.
thread_local int own_depth = 0;

void begin_creation() {
  int found = g_under_way.load();
  for (;;) {
    if (found == kLibrary) {
      g_under_way.wait(kLibrary);
      found = g_under_way.load();
    } else if (g_under_way.compare_exchange_weak(found, found + 1)) {
      return;
    }
  }
}

void end_creation() { g_under_way.fetch_sub(1); }

// Of a call that does not block, until its request is complete or goes.
class PendingCreation : public Staged {
 public:
  ~PendingCreation() override { end_creation(); }
  int finish() override { return MPI_SUCCESS; }
};

}  // namespace

Creation::Creation() : counts_(kMadeOneAfterAnother && own_depth++ == 0 && shim_is_active()) {
  if (counts_) begin_creation();
}

Creation::~Creation() {
  if (kMadeOneAfterAnother) --own_depth;
  if (counts_) end_creation();
}

void Creation::goes_on(MPI_Request* request) {
  if (!counts_ || request == nullptr || is_complete(*request)) return;
  put_continuation(*request, std::make_unique<Continuation>(std::make_shared<PendingCreation>()));
  counts_ = false;
}

QuietTime::QuietTime() : has_begun_(false) {
  int none = 0;
  has_begun_ = g_under_way.compare_exchange_strong(none, kLibrary);
  if (has_begun_) ++own_depth;
}

QuietTime::~QuietTime() {
  if (!has_begun_) return;
  --own_depth;
  g_under_way.store(0);
  g_under_way.notify_all();
}

bool creations_are_under_way() { return g_under_way.load() != 0; }

}  // namespace thinwire::mpi
