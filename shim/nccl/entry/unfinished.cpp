#include "entry/unfinished.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/threads.h"
#include "entry/ending.h"
#include "entry/group.h"
#include "members/membership.h"
#include "native/call_native.h"

namespace thinwire::nccl {

// The calls of one group, which share their fate.
struct Unfinished {
  std::mutex mutex;  // held by who goes on with it
  Rest rest;
  std::vector<Planned> watched;
  ncclResult_t result = ncclInProgress;
  int refused = 0;  // how often there was no thread to go on with it

  // With the communicator of each call and NCCL's handle of it.
  template <typename Do>
  void for_all(Do then) {
    for (const auto* const calls : {&rest.calls, &watched}) {
      for (const Planned& each : *calls) then(*each.communicator, each.call.comm);
    }
    for (const KeptRaw& each : rest.raw) then(*each.communicator, each.call.comm);
  }
};

namespace {

using namespace std::chrono_literals;

constexpr int kMostRefused = 10'000;  // of a millisecond each

using UnfinishedRef = std::shared_ptr<Unfinished>;

// Guards Communicator::unfinished; held for a look.
std::mutex& refs_mutex() {
  static auto* const made = new std::mutex;
  return *made;
}

UnfinishedRef unfinished_of(const Communicator& of) {
  const std::lock_guard lock(refs_mutex());
  return of.unfinished;
}

// Under its mutex.
void end(Unfinished& of, ncclResult_t result) {
  of.result = result;
  if (result != ncclSuccess) {
    if (!of.rest.calls.empty()) give_up(of.rest);
    for (const Planned& each : of.watched) leave_out_after(each);
    of.for_all([&](Communicator& each, ncclComm_t) {
      if (Compressor* const compressor = each.compressor.load(std::memory_order_acquire))
        compressor->set_error(result);
    });
  }
  const std::lock_guard lock(refs_mutex());
  of.for_all([&](Communicator& each, ncclComm_t) {
    if (each.unfinished.get() != &of) return;
    each.is_unfinished = false;
    each.unfinished.reset();
  });
}

// NCCL's state of all communicators: an error, else whether one is in progress.
ncclResult_t state_of(Unfinished& of) {
  ncclResult_t all = ncclSuccess;
  of.for_all([&](Communicator&, ncclComm_t comm) {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t told = THINWIRE_PASS(CommGetAsyncError, comm, &state);
    if (told != ncclSuccess) state = told;
    if (all == ncclSuccess || all == ncclInProgress) {
      if (state != ncclSuccess) all = state;
    }
  });
  return all;
}

ncclResult_t advance(Unfinished& of) {
  const std::unique_lock lock(of.mutex, std::try_to_lock);
  if (!lock.owns_lock()) return ncclInProgress;  // another thread is at it
  if (of.result != ncclInProgress) return of.result;
  ncclResult_t result = state_of(of);
  if (result == ncclSuccess && of.rest.is_left()) result = enqueue_rest(of.rest);
  if (result == ncclInProgress) return result;
  if (result == ncclSuccess) {
    enqueue_after(of.rest.calls);
    enqueue_after(of.watched);
    // NCCL says itself when that is complete.
    const ncclResult_t finalized = finalize_all(of.rest.ends);
    if (!is_taken(finalized)) result = finalized;
  }
  end(of, result);
  return result;
}

// By another thread: what is posted must not become part of the group that this one has open. If
// the system has none it may have one soon, as the program asks again and again.
ncclResult_t advance_beside_group(Unfinished& of) {
  ncclResult_t result = ncclInProgress;
  std::thread beside = quiet_thread("thinwire-group", [&] { result = advance(of); });
  if (beside.joinable()) {
    beside.join();
    return result;
  }
  std::this_thread::sleep_for(1ms);
  const std::lock_guard lock(of.mutex);
  if (of.result == ncclInProgress && ++of.refused == kMostRefused) end(of, ncclSystemError);
  return of.result;
}

}  // namespace

ncclResult_t finish_later(Rest rest, std::vector<Planned> watched) {
  UnfinishedRef made;
  if (!allowed([&] { made = std::make_shared<Unfinished>(); })) {
    if (!rest.calls.empty()) give_up(rest);
    for (const Planned& each : watched) leave_out_after(each);
    return rest.calls.empty() ? ncclInProgress : ncclSystemError;
  }
  made->rest = std::move(rest);
  made->watched = std::move(watched);
  const std::lock_guard lock(refs_mutex());
  made->for_all([&](Communicator& each, ncclComm_t) {
    each.unfinished = made;
    each.is_unfinished = true;
  });
  return ncclInProgress;
}

bool is_unfinished(ncclComm_t comm) {
  const Communicator* const of = begun(comm);
  return of != nullptr && of->is_unfinished;
}

ncclResult_t go_on(ncclComm_t comm) {
  UnfinishedRef of;
  const Communicator* const found = begun(comm);
  if (found != nullptr && found->is_unfinished) of = unfinished_of(*found);
  if (!of) return ncclSuccess;
  if (!in_group()) return advance(*of);
  return advance_beside_group(*of);
}

void drop_unfinished(Communicator& of) {
  const UnfinishedRef dropped = unfinished_of(of);
  if (!dropped) return;
  const std::lock_guard lock(dropped->mutex);
  if (dropped->result == ncclInProgress) end(*dropped, ncclInvalidUsage);
}

}  // namespace thinwire::nccl
