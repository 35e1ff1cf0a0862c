// The calls after which a communicator's handle has another meaning, or none.
#include <chrono>
#include <thread>

#include "calls/group.h"
#include "calls/making.h"
#include "calls/pass.h"
#include "calls/stopping.h"
#include "calls/unfinished.h"
#include "coding/memory.h"
#include "coding/service.h"
#include "process/counters.h"
#include "process/settings.h"

using namespace thinwire::nccl;

namespace {

// One that does not block, which NCCL will not end now.
bool is_in_progress(ncclComm_t comm) {
  if (!settings().could_compress) return false;
  const Communicator* const of = begun(comm);
  if (of == nullptr || of->blocks) return false;
  ncclResult_t state = ncclSuccess;
  return THINWIRE_PASS(CommGetAsyncError, comm, &state) == ncclSuccess && state == ncclInProgress;
}

void set_suspended(ncclComm_t comm, bool suspended) {
  if (Communicator* const of = begun(comm)) of->suspended = suspended;
}

// The last one of the process has ended, so that no work of NCCL's on a GPU waits for another rank
// any more, which freeing memory might wait for. Streams that hold it up for long keep theirs.
void give_memory_back(const Coder& coder) {
  using namespace std::chrono_literals;
  for (int look = 0; look < 200 && !coder.is_over(); ++look) std::this_thread::sleep_for(100us);
  give_idle();
}

// What is under way may still need what it had agreed. The program may end its process right after
// it, in a way in which nothing of the library runs: the other ranks are told before, if they can
// be.
void end(const Communicator& ended, bool is_gone, bool waits) {
  if (Coder* const coder = ended.coder.load()) {
    coder->end(is_gone);
    see_to_its_end(*coder);
    if (is_gone && !in_group() && !is_any_living()) give_memory_back(*coder);
  } else if (ended.agreed) {
    ended.agreed->close();
  }
  if (waits && ended.agreed) ended.agreed->wait_for_goodbye();
}

}  // namespace

THINWIRE_EXPORTED ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return guarded(THINWIRE_NATIVE(CommDestroy, comm), [&](auto& native) {
    if (Inside::now()) return native();
    if (is_unfinished(comm)) return ncclInvalidArgument;
    // Known beforehand: NCCL may give the handle to another thread's communicator before this call
    // is over.
    Communicator* const ended = begun(comm);
    const bool goes_on = is_in_progress(comm);
    if (goes_on) {
      const ncclResult_t refused = native();
      if (refused != ncclSuccess) return refused;
    } else {
      forget_parts_of(comm);
      forget(comm, ended);
      native();
    }
    forget(comm, ended);
    if (ended != nullptr) end(*ended, !goes_on, true);
    return native.once();
  });
}

// NCCL refuses calls from here on. In a group those before it are still kept.
THINWIRE_EXPORTED ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return guarded(THINWIRE_NATIVE(CommFinalize, comm), [&](auto& native) {
    if (!Inside::now() && is_unfinished(comm)) return ncclInvalidArgument;
    const ncclResult_t result = native();
    if (Inside::now() || !is_taken(result) || in_group() || !settings().could_compress)
      return result;
    Communicator* const found = begun(comm);
    if (found != nullptr && !found->finalized.exchange(true)) end(*found, false, found->blocks);
    return result;
  });
}

THINWIRE_EXPORTED ncclResult_t ncclCommRevoke(ncclComm_t comm, int flags) {
  return guarded(THINWIRE_NATIVE(CommRevoke, comm, flags), [&](auto& native) {
    if (Inside::now()) return native();
    stop_calls(comm);
    if (Communicator* const found = begun(comm)) found->revoked = true;
    return native();
  });
}

// Nothing is numbered until it is resumed: NCCL refuses all calls. What is under way NCCL waits
// for.
THINWIRE_EXPORTED ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags) {
  return guarded(THINWIRE_NATIVE(CommSuspend, comm, flags), [&](auto& native) {
    if (Inside::now()) return native();
    if (is_unfinished(comm)) return ncclInvalidArgument;
    const ncclResult_t result = native();
    if (is_taken(result)) set_suspended(comm, true);
    return result;
  });
}

THINWIRE_EXPORTED ncclResult_t ncclCommResume(ncclComm_t comm) {
  return guarded(THINWIRE_NATIVE(CommResume, comm), [&](auto& native) {
    const ncclResult_t result = native();
    if (Inside::now()) return result;
    if (is_taken(result)) set_suspended(comm, false);
    return result;
  });
}

THINWIRE_EXPORTED ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return guarded(THINWIRE_NATIVE(CommAbort, comm), [&](auto& native) {
    if (Inside::now()) return native();
    forget_parts_of(comm);
    Communicator* const ended = begun(comm);
    forget(comm, ended);
    if (ended == nullptr) return native();
    drop_unfinished(*ended);
    // Before NCCL waits for a thread or a stream of this process that waits here.
    Coder* const coder = ended->coder.load();
    if (coder != nullptr) {
      coder->abort();
    } else if (ended->agreed) {
      ended->agreed->abort();
    }
    native();
    if (coder != nullptr) end(*ended, true, false);
    return native.once();
  });
}
