#include "shim/mpi/collective/thread.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "shim/mpi/collective/live.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// Communicators of a process that get a thread though no non-blocking collective has come that
// would be compressed. A program that calls blocking ones alone may make thousands.
constexpr int kMostAhead = 8;
std::atomic<int> g_ahead{0};
std::atomic<bool> g_is_wanted{false};  // such a collective has come, on some communicator

constexpr std::uint64_t kCallsBetweenTries = 1024;

bool makes_thread() { return g_is_wanted || g_ahead.fetch_add(1) < kMostAhead; }

Thread make_thread(Collectives& kept) {
  if (!kept.worker) kept.worker = std::make_shared<Worker>(Worker::Order::kAsHandedOver);
  if (kept.worker->held() > 0 || kept.worker->hold_thread()) return Thread::kMade;
  return Thread::kRefused;
}

void say_refused() {
  static std::atomic<bool> said{false};
  const std::string what = "rank " + std::to_string(process().world.rank) +
                           ": the system refuses a thread (ulimit -u, pids.max of its cgroup): "
                           "non-blocking and persistent collectives stay the MPI's own";
  tw_log(said.exchange(true) ? TW_LOG_DEBUG : TW_LOG_WARNING, what.c_str());
}

}  // namespace

// The lowest of numbers of which those that were refused have their rank, and the others more.
NativeReason all_have_thread(const Collectives& kept, Thread own) {
  const auto ranks = static_cast<int>(kept.nodes.size());
  const std::int32_t mine = own == Thread::kMade      ? INT32_MAX
                            : own == Thread::kRefused ? kept.rank
                                                      : ranks;
  std::int32_t lowest = ranks;
  if (real().Allreduce(&mine, &lowest, 1, MPI_INT32_T, MPI_MIN, kept.own->comm()) != MPI_SUCCESS) {
    return NativeReason::kNotYet;
  }
  if (lowest == INT32_MAX) return NativeReason::kCompressed;
  if (lowest == kept.rank) say_refused();
  return lowest < ranks ? NativeReason::kNoThread : NativeReason::kNotYet;
}

void agree_on_thread(Collectives& kept) {
  if (std::exchange(kept.wants_thread, false)) g_is_wanted = true;
  kept.unserved = all_have_thread(kept, makes_thread() ? make_thread(kept) : Thread::kNotTried);
}

NativeReason may_run_started(Collectives& kept) {
  if (!g_is_wanted.load(std::memory_order_relaxed)) g_is_wanted = true;
  if (kept.unserved == NativeReason::kCompressed) return kept.unserved;
  if (kept.unserved_calls++ % kCallsBetweenTries == 0) {
    kept.wants_thread = true;
    want_costs(kept);
  }
  return kept.unserved;
}

}  // namespace thinwire::mpi
