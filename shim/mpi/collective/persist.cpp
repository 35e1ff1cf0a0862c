#include "shim/mpi/collective/persist.h"

#include <memory>
#include <mutex>
#include <utility>

#include "shim/mpi/collective/communicators.h"
#include "shim/mpi/collective/live.h"
#include "shim/mpi/collective/may_compress.h"
#include "shim/mpi/collective/native_count.h"
#include "shim/mpi/collective/parts.h"
#include "shim/mpi/collective/plan.h"
#include "shim/mpi/collective/started.h"
#include "shim/mpi/collective/thread.h"
#include "shim/mpi/collective/worker.h"
#include "shim/mpi/message/persistent.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// A program may have thousands, and systems count threads.
constexpr std::size_t kMostHeld = 64;

std::mutex g_persistent_mutex;
std::shared_ptr<Worker> g_worker;

std::shared_ptr<Worker> worker() {
  const std::lock_guard lock(g_persistent_mutex);
  if (!g_worker) g_worker = std::make_shared<Worker>(Worker::Order::kAtOnce);
  return g_worker;
}

// Ranks may start their persistent requests in different orders, so each has a queue of its own
// and waits for no other. It may outlive the program's communicator.
class PersistentCollective : public Persistent {
 public:
  PersistentCollective(const CollectiveArguments& arguments, const Part& part)
      : started_(arguments, part, Started::Ends::kWithItsOwner) {}

  ~PersistentCollective() override {
    if (const auto of = thread_of_.lock()) of->let_thread_go();
  }
  PersistentCollective(const PersistentCollective&) = delete;
  PersistentCollective& operator=(const PersistentCollective&) = delete;

  // Collective: whether every rank has made sure of a thread. Those that are made while a program
  // starts its requests might be refused, when the other ranks have begun.
  bool has_thread(const Collectives& kept) {
    const std::shared_ptr<Worker> of = worker();
    Thread own = Thread::kNotTried;
    if (of->held() < kMostHeld) own = of->hold_thread() ? Thread::kMade : Thread::kRefused;
    if (own == Thread::kMade) thread_of_ = of;
    return all_have_thread(kept, own) == NativeReason::kCompressed;
  }

  // With the costs that it was planned by.
  tw_status open(Collectives& kept) {
    const double link = tw_comm_link(kept.queue.comm());
    const tw_status status =
        queue_.open(kept.own, kept.next_tag++, kept.nodes, link, kept.link.bytes_per_second);
    return status == TW_OK ? tw_comm_take_costs(queue_.comm(), kept.queue.comm()) : status;
  }

  int start() override { return started_.begin(worker(), queue_, &active); }

  // An operation that runs still uses this.
  int free_active() override { return wait_for_active(); }

 private:
  Started started_;
  CallQueue queue_;
  std::weak_ptr<Worker> thread_of_;  // that holds one for this
};

NativeReason may_make_compressed(const CollectiveArguments& arguments, Part& part,
                                 Collectives*& kept) {
  const NativeReason why = may_compress(arguments, part);
  if (why != NativeReason::kCompressed) return why;
  kept = known_collectives(arguments.comm);
  if (kept == nullptr || is_wanted(kept) || kept->why == NativeReason::kNotKnown) {
    kept = &collectives_of(arguments.comm);
  }
  if (kept->why != NativeReason::kCompressed) return kept->why;
  const NativeReason by_codec = may_compress_under_codec(*kept, part);
  if (by_codec != NativeReason::kCompressed) return by_codec;
  if (!kept->threads) return NativeReason::kNoThreads;
  if (kept->next_tag > kLastTag) return NativeReason::kNoCommunicator;
  return plan_persistent(arguments, part, *kept);
}

// The program's handle: a request of the MPI's own that is never started.
int make_token(const Collectives& kept, MPI_Request* request) {
  return real().Recv_init(nullptr, 0, MPI_BYTE, kept.rank, 0, kept.own->comm(), request);
}

}  // namespace

std::optional<int> persist(const CollectiveArguments& arguments, MPI_Request* request) {
  Part part;
  Collectives* kept = nullptr;
  NativeReason why = may_make_compressed(arguments, part, kept);
  if (why == NativeReason::kCompressed && request != nullptr) {
    auto made = std::make_unique<PersistentCollective>(arguments, part);
    if (!made->has_thread(*kept)) {
      why = NativeReason::kNoThread;
    } else if (made->open(*kept) == TW_OK) {
      const int error = make_token(*kept, request);
      if (error != MPI_SUCCESS) {
        made.reset();
        return raise(arguments.comm, error);
      }
      add_persistent(*request, std::move(made));
      return MPI_SUCCESS;
    } else {
      tw_log(TW_LOG_WARNING, tw_last_error());
      why = NativeReason::kSettingsDiffer;
    }
  }
  count_native(why, arguments, part);
  if (why == NativeReason::kNotKnown) return raise(arguments.comm, MPI_ERR_OTHER);
  return std::nullopt;
}

void end_persistent_collectives() {
  const std::lock_guard lock(g_persistent_mutex);
  if (g_worker) g_worker->run_until_idle();
  g_worker.reset();
}

}  // namespace thinwire::mpi
