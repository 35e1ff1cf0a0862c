#include "requests/hooks.h"

#include <iterator>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "abi/datatypes.h"
#include "abi/real.h"
#include "peers/peers.h"
#include "process/process.h"
#include "wire/deliver.h"

namespace thinwire::mpi {

std::atomic<std::uint64_t> live_hooks{0};
std::atomic<std::uint64_t> live_orphans{0};

namespace {

struct Orphan {
  MPI_Request request;
  HookPointer hook;
};

std::mutex g_mutex;
std::unordered_map<MPI_Request, HookPointer> g_hooks;
std::vector<Orphan> g_orphans;

bool is_derived(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  real().Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner != MPI_COMBINER_NAMED;
}

}  // namespace

HookPointer make_receive_hook(Lease wire, const Destination& destination) {
  auto hook = std::make_unique<Hook>(Hook::Kind::kReceive, std::move(wire));
  hook->destination = destination;
  hook->owns_type = is_derived(destination.type);
  if (hook->owns_type) real().Type_dup(destination.type, &hook->destination.type);
  return hook;
}

Hook::~Hook() {
  if (copy != nullptr) tw_copy_finish(copy);
  if (owns_type) real().Type_free(&destination.type);
}

int finish(Hook& hook, MPI_Status& status, int error) {
  if (hook.kind == Hook::Kind::kSend) return error;
  if (hook.delivered) {
    status = hook.status;
    return hook.error;
  }
  return deliver(hook.destination, hook.wire, status, error, std::exchange(hook.copy, nullptr));
}

void begin_delivery(Hook& hook, const MPI_Status& status, int error) {
  if (hook.kind == Hook::Kind::kSend || hook.delivered || hook.copy != nullptr) return;
  if (error == MPI_SUCCESS) hook.copy = begin_copy(hook.destination, hook.wire, status);
}

void put_hook(MPI_Request request, HookPointer hook) {
  const std::lock_guard lock(g_mutex);
  g_hooks[request] = std::move(hook);
  live_hooks.store(g_hooks.size(), std::memory_order_relaxed);
}

HookPointer take_hook(MPI_Request request) {
  if (live_hooks.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard lock(g_mutex);
  const auto found = g_hooks.find(request);
  if (found == g_hooks.end()) return nullptr;
  HookPointer hook = std::move(found->second);
  g_hooks.erase(found);
  live_hooks.store(g_hooks.size(), std::memory_order_relaxed);
  return hook;
}

void adopt_orphan(MPI_Request request, HookPointer hook) {
  {
    const std::lock_guard lock(g_mutex);
    g_orphans.push_back({request, std::move(hook)});
    live_orphans.store(g_orphans.size(), std::memory_order_relaxed);
  }
  progress_orphans();
}

void complete_orphans() {
  // Out of reach of other threads meanwhile, and without the lock: an error handler may call back.
  std::vector<Orphan> orphans;
  {
    const std::lock_guard lock(g_mutex);
    orphans.swap(g_orphans);
  }
  std::erase_if(orphans, [](Orphan& orphan) {
    int done = 0;
    MPI_Status status;
    const int error = real().Test(&orphan.request, &done, &status);
    if (done) finish(*orphan.hook, status, error);
    return done != 0;
  });
  const std::lock_guard lock(g_mutex);
  std::move(orphans.begin(), orphans.end(), std::back_inserter(g_orphans));
  live_orphans.store(g_orphans.size(), std::memory_order_relaxed);
}

void drain_orphans() {
  std::vector<Orphan> orphans;
  {
    const std::lock_guard lock(g_mutex);
    orphans.swap(g_orphans);
    live_orphans.store(0, std::memory_order_relaxed);
  }
  for (Orphan& orphan : orphans) {
    // A receive that nothing matched would be waited for in vain.
    int done = 0;
    MPI_Status status;
    real().Request_get_status(orphan.request, &done, MPI_STATUS_IGNORE);
    if (!done && orphan.hook->kind == Hook::Kind::kReceive) real().Cancel(&orphan.request);
    const int error = real().Wait(&orphan.request, &status);
    finish(*orphan.hook, status, error);
  }
}

void check_nothing_left() {
  const std::uint64_t hooks = live_hooks.load(), stashed = stashed_messages.load();
  if (hooks == 0 && stashed == 0) return;
  tw_log(TW_LOG_WARNING,
         ("rank " + std::to_string(process().world.rank) + " reaches MPI_Finalize with " +
          std::to_string(hooks) + " requests not completed and " + std::to_string(stashed) +
          " probed messages not received")
             .c_str());
}

int raise(MPI_Comm comm, int error) {
  real().Comm_call_errhandler(comm, error);
  return error;
}

}  // namespace thinwire::mpi
