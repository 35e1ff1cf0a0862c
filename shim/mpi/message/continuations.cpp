#include "shim/mpi/message/continuations.h"

#include <sched.h>

#include <memory_resource>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "shim/mpi/message/early_message.h"
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

bool is_taken_before(const Continuation& continuation) {
  return continuation.early != nullptr || continuation.destination.on_device;
}

// Under the lock.
void count(const Continuation& continuation, std::uint64_t change) {
  live_continuations.fetch_add(change, std::memory_order_relaxed);
  if (is_taken_before(continuation)) live_taken_before.fetch_add(change, std::memory_order_relaxed);
}

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

template <typename Wanted>
ContinuationPointer take_wanted(MPI_Request request, const LateCall* call, Wanted&& wanted) {
  if (!continued_requests.may_have(request)) return nullptr;
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  ContinuationPointer continuation = find_and_take(all, request, call, wanted);
  if (!continuation) return nullptr;
  continued_requests.remove(request);
  count(*continuation, ~std::uint64_t{0});
  return continuation;
}

constexpr auto kAny = [](const Continuation&) { return true; };

// As long as others look at continuations: one that nobody held, and nobody has taken since, is not
// there.
template <typename Wanted>
ContinuationPointer take_patiently(MPI_Request request, Wanted&& wanted) {
  for (;;) {
    const std::uint64_t looks = g_looks.load();
    const bool looked_at = g_looked_at.load() != own_looked_at;
    if (ContinuationPointer continuation = take_wanted(request, nullptr, wanted))
      return continuation;
    if (!looked_at && looks == g_looks.load()) return nullptr;
    sched_yield();
  }
}

// Calls of a program without threads need no lock.
std::unique_lock<std::mutex> lock_for_late(Table& all) {
  return process().concurrent ? std::unique_lock(all.mutex) : std::unique_lock<std::mutex>();
}

}  // namespace

ContinuationPointer take_continuation(MPI_Request request) { return take_patiently(request, kAny); }

ContinuationPointer take_continuation_of(MPI_Request request, std::uint64_t first,
                                         std::uint64_t last) {
  return take_patiently(request, [first, last](const Continuation& is) {
    return first <= is.number && is.number <= last;
  });
}

void begin_late(LateCall& call) {
  Table& all = table();
  const auto lock = lock_for_late(all);
  all.late_calls.begin(call, ++all.numbers);
}

ContinuationPointer take_continuation_late(const LateCall& call, MPI_Request request) {
  return take_wanted(request, &call, kAny);
}

void end_late(LateCall& call) {
  Table& all = table();
  const auto lock = lock_for_late(all);
  all.late_calls.end(call);
}

namespace {

// The look at the continuation of a message that was probed. It counts meanwhile, or who completes
// the request would not wait for it.
class Look final : UnderWay {
 public:
  Look(MPI_Request request, const EarlyMessage& early) : request_(request) {
    ++g_looks;
    ++g_looked_at;
    ++own_looked_at;
    Table& all = table();
    {
      const std::lock_guard lock(all.mutex);
      continuation_ = find_and_take(
          all, request, nullptr, [&](const Continuation& is) { return is.early.get() == &early; });
    }
    begin();
  }
  ~Look() { finish(); }

  bool has_any() const { return continuation_ != nullptr; }
  ContinuationPointer take() { return std::move(continuation_); }
  void give(ContinuationPointer continuation) {
    if (counts_) {
      continuation_ = std::move(continuation);
    } else {
      const std::lock_guard lock(table().mutex);
      put(table(), request_, std::move(continuation));
    }
  }
  void finish() {
    end();
    if (!std::exchange(counts_, false)) return;
    if (continuation_) {
      const std::lock_guard lock(table().mutex);
      put(table(), request_, std::move(continuation_));
    }
    --own_looked_at;
    --g_looked_at;
  }

 private:
  void before_handler(int) override { finish(); }
  MPI_Request request_;
  ContinuationPointer continuation_;
  bool counts_ = true;
};

}  // namespace

void deliver_if_complete(MPI_Request request, const EarlyMessage& early) {
  Look look(request, early);
  if (!look.has_any()) return;
  int done = 0;
  MPI_Status status{};
  const int error = real().Request_get_status(request, &done, &status);
  // Out of reach of error handlers that run meanwhile.
  ContinuationPointer continuation = look.take();
  if (!continuation) return;
  Settled outcome;
  if (done && !continuation->delivered) {
    outcome = settle(*continuation, status, error);
    continuation->error = outcome.error;
    continuation->status = status;
    continuation->delivered = true;
  }
  look.give(std::move(continuation));
  look.finish();
  outcome.raise();
}

}  // namespace thinwire::mpi
