#include "requests/continuations.h"

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

std::atomic<std::uint64_t> live_continuations{0};
std::atomic<std::uint64_t> live_taken_before{0};
std::atomic<std::uint64_t> live_orphans{0};

namespace {

struct Orphan {
  MPI_Request request;
  ContinuationPointer continuation;
};

struct Table {
  std::mutex mutex;  // guards all below
  std::pmr::unsynchronized_pool_resource pool{&process().system};
  std::pmr::unordered_map<MPI_Request, ContinuationPointer> continuations{&pool};  // the newest
  std::vector<Orphan> orphans;
};

Table& table() { return immortal<Table>(); }

// Apart from the table, under whose lock a continuation may end. One pool for all threads: programs
// start threads for a moment's work, and a thread's own pool would cost more than the lock.
struct ContinuationMemory {
  std::mutex mutex;
  std::pmr::unsynchronized_pool_resource pool{&process().system};
};

ContinuationMemory& continuation_memory() { return immortal<ContinuationMemory>(); }

std::atomic<std::uint64_t> g_continuations_put{0};

bool is_taken_before(const Continuation& continuation) {
  return continuation.probed != nullptr || continuation.destination.on_device;
}

// Under the lock.
void count(const Continuation& continuation, std::uint64_t change) {
  live_continuations.fetch_add(change, std::memory_order_relaxed);
  if (is_taken_before(continuation)) live_taken_before.fetch_add(change, std::memory_order_relaxed);
}

}  // namespace

Continuation::Continuation(Kind kind_, Lease wire) : kind(kind_), space{std::move(wire), {}} {
  ++process().counters.continuations;
}

Continuation::Continuation(StagedPointer collective)
    : kind(Kind::kCollective), staged(std::move(collective)) {}

void* Continuation::operator new(std::size_t bytes) {
  ContinuationMemory& memory = continuation_memory();
  const std::lock_guard lock(memory.mutex);
  return memory.pool.allocate(bytes, alignof(Continuation));
}

void Continuation::operator delete(void* continuation, std::size_t bytes) {
  ContinuationMemory& memory = continuation_memory();
  const std::lock_guard lock(memory.mutex);
  memory.pool.deallocate(continuation, bytes, alignof(Continuation));
}

ContinuationPointer make_receive_continuation(ReceiveSpace space, const Destination& destination) {
  auto continuation = std::make_unique<Continuation>(Continuation::Kind::kReceive, Lease());
  continuation->space = std::move(space);
  continuation->destination = destination;
  continuation->destination.errors = error_target(destination.comm);
  // Needed where only the MPI can unpack it.
  const bool knows_bytes = destination.dense || destination.on_device || destination.bytes.map;
  continuation->owns_type = !knows_bytes && is_derived(destination.type);
  if (continuation->owns_type) real().Type_dup(destination.type, &continuation->destination.type);
  return continuation;
}

Continuation::~Continuation() {
  if (copy != nullptr) tw_copy_finish(copy);
  if (owns_type) real().Type_free(&destination.type);
}

int finish(Continuation& continuation, MPI_Status& status, int error) {
  if (continuation.kind == Continuation::Kind::kSend) return error;
  if (continuation.delivered) {
    status = continuation.status;
    return continuation.error;
  }
  if (continuation.kind == Continuation::Kind::kCollective) {
    return error == MPI_SUCCESS ? continuation.staged->finish() : error;
  }
  const int outcome = deliver(continuation.destination, continuation.space, status, error,
                              std::exchange(continuation.copy, nullptr));
  if (continuation.probed) continuation.probed->received(wire_bytes_of(status));
  return outcome;
}

void begin_delivery(Continuation& continuation, const MPI_Status& status, int error) {
  if (continuation.kind != Continuation::Kind::kReceive || continuation.delivered ||
      continuation.copy != nullptr)
    return;
  if (error == MPI_SUCCESS)
    continuation.copy = begin_copy(continuation.destination, continuation.space.wire, status);
}

bool is_complete(MPI_Request request) {
  int done = 0;
  real().Request_get_status(request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

void put_continuation(MPI_Request request, ContinuationPointer continuation) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  count(*continuation, 1);
  if (continuation->number == 0) {
    continuation->number = g_continuations_put.fetch_add(1, std::memory_order_release) + 1;
  }
  ContinuationPointer& newest = all.continuations[request];
  continuation->older = std::move(newest);
  newest = std::move(continuation);
}

std::uint64_t continuations_put() { return g_continuations_put.load(std::memory_order_acquire); }

namespace {

// Of continuations that a thread holds for a moment which does not complete their requests. An
// error handler may run in that moment, so a thread does not wait for itself.
std::atomic<int> g_looked_at{0};
thread_local int own_looked_at = 0;

template <typename Wanted>
ContinuationPointer take_continuation_if(MPI_Request request, Wanted&& wanted) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.continuations.find(request);
  if (found == all.continuations.end()) return nullptr;
  ContinuationPointer* of = &found->second;
  while (*of && !wanted(**of)) of = &(*of)->older;
  if (!*of) return nullptr;
  ContinuationPointer continuation = std::move(*of);
  *of = std::move(continuation->older);
  if (!found->second) all.continuations.erase(found);
  count(*continuation, ~std::uint64_t{0});
  return continuation;
}

}  // namespace

ContinuationPointer take_continuation(MPI_Request request) {
  for (;;) {
    const bool looked_at = g_looked_at.load() != own_looked_at;
    if (live_continuations.load(std::memory_order_relaxed) != 0) {
      if (ContinuationPointer continuation =
              take_continuation_if(request, [](const Continuation&) { return true; }))
        return continuation;
    }
    if (!looked_at) return nullptr;
    sched_yield();
  }
}

ContinuationPointer take_continuation_put_by(std::uint64_t number, MPI_Request request) {
  if (live_continuations.load(std::memory_order_relaxed) == 0) return nullptr;
  return take_continuation_if(
      request, [number](const Continuation& found) { return found.number <= number; });
}

void deliver_if_complete(MPI_Request request, const Probed& probed) {
  ++g_looked_at;
  ++own_looked_at;
  ContinuationPointer continuation = take_continuation_if(
      request, [&](const Continuation& found) { return found.probed.get() == &probed; });
  if (continuation) {
    int done = 0;
    MPI_Status status{};
    const int error = real().Request_get_status(request, &done, &status);
    if (done && !continuation->delivered) {
      continuation->error = finish(*continuation, status, error);
      continuation->status = status;
      continuation->delivered = true;
    }
    put_continuation(request, std::move(continuation));
  }
  --own_looked_at;
  --g_looked_at;
}

void keep_orphan(MPI_Request request, ContinuationPointer continuation) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  all.orphans.push_back({request, std::move(continuation)});
  live_orphans.store(all.orphans.size(), std::memory_order_relaxed);
}

void adopt_orphan(MPI_Request request, ContinuationPointer continuation) {
  keep_orphan(request, std::move(continuation));
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
    if (done) finish(*orphan.continuation, status, error);
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
  const std::uint64_t continuations = live_continuations.load(), stashed = stashed_messages.load();
  if (continuations == 0 && stashed == 0) return;
  tw_log(TW_LOG_WARNING,
         ("rank " + std::to_string(process().world.rank) + " reaches MPI_Finalize with " +
          std::to_string(continuations) + " requests not completed and " + std::to_string(stashed) +
          " probed messages not received")
             .c_str());
}

}  // namespace thinwire::mpi
