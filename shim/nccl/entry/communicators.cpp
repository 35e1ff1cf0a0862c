// The calls after which a communicator's handle has another meaning, or none.
#include "state/communicators.h"
#include "entry/ending.h"
#include "entry/group.h"
#include "entry/making.h"
#include "entry/stopping.h"
#include "entry/unfinished.h"
#include "native/call_native.h"
#include "run/retired.h"
#include "state/settings.h"

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
    if (ended == nullptr) return native.once();
    end_agreed(*ended, !goes_on, true);
    if (!goes_on && in_group()) {
      ends_with_group(*ended);
    } else if (!goes_on) {
      let_go(*ended);
    }
    return native.once();
  });
}

// NCCL refuses calls from here on. In a group those before it come first: as they are kept until
// the group's end, so is this.
THINWIRE_EXPORTED ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return guarded(THINWIRE_NATIVE(CommFinalize, comm), [&](auto& native) {
    if (Inside::now()) return native();
    if (is_unfinished(comm)) return ncclInvalidArgument;
    if (in_group() && ends_in_group(comm)) return spoil_group(ncclInvalidArgument);
    if (in_group() && keep_end(comm)) return ncclSuccess;
    const ncclResult_t result = native();
    if (is_taken(result) && !in_group() && settings().could_compress) note_finalized(comm);
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
    Compressor* const compressor = ended->compressor.load();
    if (compressor != nullptr) {
      compressor->abort();
    } else if (ended->agreed) {
      ended->agreed->abort();
    }
    native();
    if (compressor != nullptr) end_agreed(*ended, true, false);
    return native.once();
  });
}
