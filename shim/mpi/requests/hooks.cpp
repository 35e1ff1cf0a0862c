#include "requests/hooks.h"

#include <sched.h>

#include <iterator>
#include <memory_resource>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "abi/datatypes.h"
#include "abi/real.h"
#include "peers/peers.h"
#include "peers/probed.h"
#include "process/immortal.h"
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

struct Table {
  std::mutex mutex;  // guards all below
  std::pmr::unsynchronized_pool_resource pool{&process().system};
  std::pmr::unordered_map<MPI_Request, HookPointer> hooks{&pool};
  std::vector<Orphan> orphans;
};

Table& table() { return immortal<Table>(); }

// Apart from the table, under whose lock a hook may end. One pool for all threads: programs start
// threads for a moment's work, and a thread's own pool would cost more than the lock.
struct HookMemory {
  std::mutex mutex;
  std::pmr::unsynchronized_pool_resource pool{&process().system};
};

HookMemory& hook_memory() { return immortal<HookMemory>(); }

}  // namespace

Hook::Hook(Kind kind_, Lease wire) : kind(kind_), landing{std::move(wire), {}} {
  ++process().counters.hooks;
}

Hook::Hook(StagedPointer collective) : kind(Kind::kCollective), staged(std::move(collective)) {}

void* Hook::operator new(std::size_t bytes) {
  HookMemory& memory = hook_memory();
  const std::lock_guard lock(memory.mutex);
  return memory.pool.allocate(bytes, alignof(Hook));
}

void Hook::operator delete(void* hook, std::size_t bytes) {
  HookMemory& memory = hook_memory();
  const std::lock_guard lock(memory.mutex);
  memory.pool.deallocate(hook, bytes, alignof(Hook));
}

HookPointer make_receive_hook(Landing landing, const Destination& destination) {
  auto hook = std::make_unique<Hook>(Hook::Kind::kReceive, Lease());
  hook->landing = std::move(landing);
  hook->destination = destination;
  hook->destination.errors = error_target(destination.comm);
  // Needed where only the MPI can unpack it.
  const bool knows_bytes = destination.dense || destination.on_device || destination.bytes.map;
  hook->owns_type = !knows_bytes && is_derived(destination.type);
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
  if (hook.kind == Hook::Kind::kCollective) {
    return error == MPI_SUCCESS ? hook.staged->finish() : error;
  }
  const int outcome =
      deliver(hook.destination, hook.landing, status, error, std::exchange(hook.copy, nullptr));
  if (hook.probed) hook.probed->received(wire_bytes_of(status));
  return outcome;
}

void begin_delivery(Hook& hook, const MPI_Status& status, int error) {
  if (hook.kind != Hook::Kind::kReceive || hook.delivered || hook.copy != nullptr) return;
  if (error == MPI_SUCCESS) hook.copy = begin_copy(hook.destination, hook.landing.wire, status);
}

bool is_complete(MPI_Request request) {
  int done = 0;
  real().Request_get_status(request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

void put_hook(MPI_Request request, HookPointer hook) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  all.hooks[request] = std::move(hook);
  live_hooks.store(all.hooks.size(), std::memory_order_relaxed);
}

namespace {

// Of hooks that a thread holds for a moment which does not complete their requests. An error
// handler may run in that moment, so a thread does not wait for itself.
std::atomic<int> g_looked_at{0};
thread_local int own_looked_at = 0;

template <typename Wanted>
HookPointer take_hook_if(MPI_Request request, Wanted&& wanted) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.hooks.find(request);
  if (found == all.hooks.end() || !wanted(*found->second)) return nullptr;
  HookPointer hook = std::move(found->second);
  all.hooks.erase(found);
  live_hooks.store(all.hooks.size(), std::memory_order_relaxed);
  return hook;
}

}  // namespace

HookPointer take_hook(MPI_Request request) {
  for (;;) {
    const bool looked_at = g_looked_at.load() != own_looked_at;
    if (live_hooks.load(std::memory_order_relaxed) != 0) {
      if (HookPointer hook = take_hook_if(request, [](const Hook&) { return true; })) return hook;
    }
    if (!looked_at) return nullptr;
    sched_yield();
  }
}

void deliver_if_complete(MPI_Request request, const Probed& probed) {
  ++g_looked_at;
  ++own_looked_at;
  HookPointer hook =
      take_hook_if(request, [&](const Hook& found) { return found.probed.get() == &probed; });
  if (hook) {
    int done = 0;
    MPI_Status status{};
    const int error = real().Request_get_status(request, &done, &status);
    if (done && !hook->delivered) {
      hook->error = finish(*hook, status, error);
      hook->status = status;
      hook->delivered = true;
    }
    put_hook(request, std::move(hook));
  }
  --own_looked_at;
  --g_looked_at;
}

void keep_orphan(MPI_Request request, HookPointer hook) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  all.orphans.push_back({request, std::move(hook)});
  live_orphans.store(all.orphans.size(), std::memory_order_relaxed);
}

void adopt_orphan(MPI_Request request, HookPointer hook) {
  keep_orphan(request, std::move(hook));
  progress_orphans();
}

void complete_orphans() {
  // Out of reach of other threads meanwhile, and without the lock: an error handler may call back.
  Table& all = table();
  std::vector<Orphan> orphans;
  {
    const std::lock_guard lock(all.mutex);
    orphans.swap(all.orphans);
  }
  std::erase_if(orphans, [](Orphan& orphan) {
    int done = 0;
    MPI_Status status;
    const int error = real().Test(&orphan.request, &done, &status);
    if (done) finish(*orphan.hook, status, error);
    return done != 0;
  });
  const std::lock_guard lock(all.mutex);
  std::move(orphans.begin(), orphans.end(), std::back_inserter(all.orphans));
  live_orphans.store(all.orphans.size(), std::memory_order_relaxed);
}

void drain_orphans() {
  Table& all = table();
  std::vector<Orphan> orphans;
  {
    const std::lock_guard lock(all.mutex);
    orphans.swap(all.orphans);
    live_orphans.store(0, std::memory_order_relaxed);
  }
  for (Orphan& orphan : orphans) {
    MPI_Status status;
    if (!is_complete(orphan.request) && orphan.hook->kind == Hook::Kind::kReceive) {
      // Waiting might be in vain, and without the receive its sender would wait for ever. It is the
      // MPI's to end, into memory that stays; nobody may look at what comes that late.
      real().Request_free(&orphan.request);
      static_cast<void>(orphan.hook.release());
      continue;
    }
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

}  // namespace thinwire::mpi
