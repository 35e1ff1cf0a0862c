// Requests that the program has let go of, whose operations go on.
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "shim/mpi/choose/peers.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/native/immortal.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

std::atomic<std::uint64_t> live_orphans{0};

namespace {

struct Orphan {
  MPI_Request request;
  ContinuationPointer continuation;
};

struct Orphans {
  std::mutex mutex;
  std::vector<Orphan> requests;
};

Orphans& orphans_of_process() { return immortal<Orphans>(); }

}  // namespace

void keep_orphan(MPI_Request request, ContinuationPointer continuation) {
  Orphans& all = orphans_of_process();
  const std::lock_guard lock(all.mutex);
  all.requests.push_back({request, std::move(continuation)});
  live_orphans.store(all.requests.size(), std::memory_order_relaxed);
}

void adopt_orphan(MPI_Request request, ContinuationPointer continuation) {
  keep_orphan(request, std::move(continuation));
  progress_orphans();
}

void complete_orphans() {
  // Out of reach of other threads meanwhile, and without the lock: an error handler may call back.
  Orphans& all = orphans_of_process();
  std::vector<Orphan> orphans;
  {
    const std::lock_guard lock(all.mutex);
    orphans.swap(all.requests);
  }
  std::erase_if(orphans, [](Orphan& orphan) {
    int done = 0;
    MPI_Status status;
    const int error = real().Test(&orphan.request, &done, &status);
    if (done) finish(*orphan.continuation, status, error);
    return done != 0;
  });
  const std::lock_guard lock(all.mutex);
  std::move(orphans.begin(), orphans.end(), std::back_inserter(all.requests));
  live_orphans.store(all.requests.size(), std::memory_order_relaxed);
}

void drain_orphans() {
  Orphans& all = orphans_of_process();
  std::vector<Orphan> orphans;
  {
    const std::lock_guard lock(all.mutex);
    orphans.swap(all.requests);
    live_orphans.store(0, std::memory_order_relaxed);
  }
  for (Orphan& orphan : orphans) {
    MPI_Status status;
    if (!is_complete(orphan.request) && orphan.continuation->kind == Continuation::Kind::kReceive) {
      // Waiting might be in vain, and without the receive its sender would wait for ever. It is the
      // MPI's to end, into memory that stays; nobody may look at what comes that late.
      real().Request_free(&orphan.request);
      static_cast<void>(orphan.continuation.release());
      continue;
    }
    const int error = real().Wait(&orphan.request, &status);
    finish(*orphan.continuation, status, error);
  }
}

void check_nothing_left() {
  const std::uint64_t continuations = live_continuations.load(), early = early_message_count.load();
  if (continuations == 0 && early == 0) return;
  tw_log(TW_LOG_WARNING,
         ("rank " + std::to_string(process().world.rank) + " reaches MPI_Finalize with " +
          std::to_string(continuations) + " requests not completed and " + std::to_string(early) +
          " probed messages not received")
             .c_str());
}

}  // namespace thinwire::mpi
