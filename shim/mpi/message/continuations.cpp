#include "shim/mpi/message/continuations.h"

#include <sched.h>

#include <memory_resource>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "shim/mpi/choose/peers.h"
#include "shim/mpi/message/deliver.h"
#include "shim/mpi/message/early_message.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/immortal.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

std::atomic<std::uint64_t> live_continuations{0};
std::atomic<std::uint64_t> live_taken_before{0};
HandleFilter continued_requests;

namespace {

struct Table {
  std::mutex mutex;  // guards all below
  std::pmr::unsynchronized_pool_resource pool{&process().system};
  std::pmr::unordered_map<MPI_Request, ContinuationPointer> continuations{&pool};  // the newest
  LateCalls late_calls;
  std::uint64_t numbers = 0;  // of continuations and late calls
};

Table& table() { return immortal<Table>(); }

// Apart from the table, under whose lock a continuation may end. One pool for all threads: programs
// start threads for a moment's work, and a thread's own pool would cost more than the lock.
struct ContinuationMemory {
  std::mutex mutex;
  std::pmr::unsynchronized_pool_resource pool{&process().system};
};

ContinuationMemory& continuation_memory() { return immortal<ContinuationMemory>(); }

bool is_taken_before(const Continuation& continuation) {
  return continuation.early != nullptr || continuation.destination.on_device;
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
  if (continuation.early) continuation.early->received(wire_bytes_of(status));
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

namespace {

// Under the lock.
void put(Table& all, MPI_Request request, ContinuationPointer continuation) {
  ContinuationPointer& newest = all.continuations[request];
  continuation->older = std::move(newest);
  newest = std::move(continuation);
}

}  // namespace

void put_continuation(MPI_Request request, ContinuationPointer continuation) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  count(*continuation, 1);
  continued_requests.add(request);
  if (continuation->number == 0) continuation->number = ++all.numbers;
  put(all, request, std::move(continuation));
}

namespace {

// Counts continuations that a thread holds for a moment which does not complete their requests. An
// error handler may run in that moment, so a thread does not wait for itself.
std::atomic<int> g_looked_at{0};
std::atomic<std::uint64_t> g_looks{0};  // such moments that began
thread_local int own_looked_at = 0;

// Under the lock. `call`: the late call that asks, if one does.
template <typename Wanted>
ContinuationPointer find_and_take(Table& all, MPI_Request request, const LateCall* call,
                                  Wanted&& wanted) {
  const auto found = all.continuations.find(request);
  if (found == all.continuations.end()) return nullptr;
  ContinuationPointer* of = &found->second;
  while (*of && !(wanted(**of) && !all.late_calls.is_anothers(call, (*of)->number, request))) {
    of = &(*of)->older;
  }
  if (!*of) return nullptr;
  ContinuationPointer continuation = std::move(*of);
  *of = std::move(continuation->older);
  if (!found->second) all.continuations.erase(found);
  return continuation;
}

ContinuationPointer take_continuation_of(MPI_Request request, const LateCall* call) {
  if (!continued_requests.may_have(request)) return nullptr;
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  ContinuationPointer continuation =
      find_and_take(all, request, call, [](const Continuation&) { return true; });
  if (!continuation) return nullptr;
  continued_requests.remove(request);
  count(*continuation, ~std::uint64_t{0});
  return continuation;
}

// Calls of a program without threads need no lock.
std::unique_lock<std::mutex> lock_for_late(Table& all) {
  return process().concurrent ? std::unique_lock(all.mutex) : std::unique_lock<std::mutex>();
}

}  // namespace

ContinuationPointer take_continuation(MPI_Request request) {
  for (;;) {
    const std::uint64_t looks = g_looks.load();
    const bool looked_at = g_looked_at.load() != own_looked_at;
    if (ContinuationPointer continuation = take_continuation_of(request, nullptr))
      return continuation;
    // A continuation that nobody held, and nobody has taken since, is not there.
    if (!looked_at && looks == g_looks.load()) return nullptr;
    sched_yield();
  }
}

void begin_late(LateCall& call) {
  Table& all = table();
  const auto lock = lock_for_late(all);
  all.late_calls.begin(call, ++all.numbers);
}

ContinuationPointer take_continuation_late(const LateCall& call, MPI_Request request) {
  return take_continuation_of(request, &call);
}

void end_late(LateCall& call) {
  Table& all = table();
  const auto lock = lock_for_late(all);
  all.late_calls.end(call);
}

void deliver_if_complete(MPI_Request request, const EarlyMessage& early) {
  Table& all = table();
  ++g_looks;
  ++g_looked_at;
  ++own_looked_at;
  // It counts meanwhile, or who completes the request would not wait for it.
  std::unique_lock lock(all.mutex);
  ContinuationPointer continuation =
      find_and_take(all, request, nullptr,
                    [&](const Continuation& found) { return found.early.get() == &early; });
  if (continuation) {
    lock.unlock();
    int done = 0;
    MPI_Status status{};
    const int error = real().Request_get_status(request, &done, &status);
    if (done && !continuation->delivered) {
      continuation->error = finish(*continuation, status, error);
      continuation->status = status;
      continuation->delivered = true;
    }
    lock.lock();
    put(all, request, std::move(continuation));
  }
  lock.unlock();
  --own_looked_at;
  --g_looked_at;
}

}  // namespace thinwire::mpi
