// Requests that the program has let go of, whose operations go on.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "shim/mpi/choose/peers.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/native/immortal.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/under_way.h"
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

// There is one.
Orphan take_last() {
  Orphans& all = orphans_of_process();
  const std::lock_guard lock(all.mutex);
  Orphan last = std::move(all.requests.back());
  all.requests.pop_back();
  live_orphans.store(all.requests.size(), std::memory_order_relaxed);
  return last;
}

}  // namespace

void keep_orphan(MPI_Request request, ContinuationPointer continuation) {
  Orphans& all = orphans_of_process();
  const std::lock_guard lock(all.mutex);
  all.requests.push_back({request, std::move(continuation)});
  live_orphans.store(all.requests.size(), std::memory_order_relaxed);
}

ContinuationPointer reclaim_orphan(MPI_Request request) {
  Orphans& all = orphans_of_process();
  const std::lock_guard lock(all.mutex);
  const auto found = std::ranges::find(all.requests, request, &Orphan::request);
  if (found == all.requests.end()) return nullptr;
  ContinuationPointer continuation = std::move(found->continuation);
  all.requests.erase(found);
  live_orphans.store(all.requests.size(), std::memory_order_relaxed);
  return continuation;
}

namespace {

// A look at each orphan, out of reach of other threads meanwhile and without the lock: an error
// handler may call back.
class Round final : UnderWay {
 public:
  Round() {
    Orphans& all = orphans_of_process();
    {
      const std::lock_guard lock(all.mutex);
      orphans_.swap(all.requests);
    }
    begin();
  }
  ~Round() {
    end();
    give_back();
  }

  void run() {
    while (at_ < orphans_.size()) {
      int done = 0;
      const int error = real().Test(&orphans_[at_].request, &done, &status_);
      // A handler that ran has seen to it.
      if (orphans_.empty()) return;
      // Nobody waits for it: as natively, its error is raised in no other call.
      if (done) {
        complete(error);
      } else {
        ++at_;
      }
    }
  }

 private:
  // The one at hand.
  void complete(int error) {
    const ContinuationPointer continuation = std::move(orphans_[at_].continuation);
    orphans_.erase(orphans_.begin() + static_cast<std::ptrdiff_t>(at_));
    settle(*continuation, status_, error);
  }

  void before_handler(int error) override {
    // The MPI has completed it with that error.
    if (at_ < orphans_.size() && orphans_[at_].request == MPI_REQUEST_NULL) complete(error);
    give_back();
  }

  void give_back() {
    Orphans& all = orphans_of_process();
    const std::lock_guard lock(all.mutex);
    std::move(orphans_.begin(), orphans_.end(), std::back_inserter(all.requests));
    live_orphans.store(all.requests.size(), std::memory_order_relaxed);
    std::vector<Orphan>().swap(orphans_);
  }

  std::vector<Orphan> orphans_;
  std::size_t at_ = 0;
  MPI_Status status_{};
};

}  // namespace

void complete_orphans() {
  // Their errors would run a handler within another's call.
  if (!is_putting_in_order()) Round().run();
}

void drain_orphans() {
  // One by one: an error handler may leave by a jump.
  while (live_orphans.load(std::memory_order_relaxed) != 0) {
    Orphan orphan = take_last();
    MPI_Status status;
    if (!is_complete(orphan.request) && orphan.continuation->kind == Continuation::Kind::kReceive) {
      // Waiting might be in vain, and without the receive its sender would wait for ever. It is the
      // MPI's to end, into memory that stays; nobody may look at what comes that late.
      real().Request_free(&orphan.request);
      static_cast<void>(orphan.continuation.release());
      continue;
    }
    const int error = real().Wait(&orphan.request, &status);
    settle(*orphan.continuation, status, error);
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
