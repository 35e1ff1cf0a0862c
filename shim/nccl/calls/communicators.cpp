// The calls after which a communicator's handle has another meaning, or none.
#include "calls/group.h"
#include "calls/making.h"
#include "calls/pass.h"
#include "calls/stopping.h"
#include "calls/unfinished.h"
#include "coding/service.h"
#include "process/counters.h"
#include "process/settings.h"

using namespace thinwire::nccl;

namespace {

// One that does not block, which NCCL will not end now.
bool is_in_progress(ncclComm_t comm) {
  bool blocks = true;
  if (settings().could_compress) {
    with_begun(comm, [&](Communicator* of) { blocks = of == nullptr || of->blocks; });
  }
  if (blocks) return false;
  ncclResult_t state = ncclSuccess;
  return THINWIRE_PASS(CommGetAsyncError, comm, &state) == ncclSuccess && state == ncclInProgress;
}

void set_suspended(ncclComm_t comm, bool suspended) {
  with_begun(comm, [&](Communicator* of) {
    if (of != nullptr) of->suspended = suspended;
  });
}

// What is under way may still need what it had agreed.
void end(const Communicator& ended) {
  if (Coder* const coder = ended.coder.load()) {
    coder->end();
    see_to_its_end(*coder);
  } else if (ended.agreed) {
    ended.agreed->close();
  }
}

}  // namespace

// Forgotten beforehand: NCCL may give the handle to another thread's communicator before this call
// is over.
THINWIRE_EXPORTED ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (Inside::now()) return THINWIRE_PASS(CommDestroy, comm);
  if (is_unfinished(comm)) return ncclInvalidArgument;
  if (is_in_progress(comm)) {
    const ncclResult_t refused = THINWIRE_PASS(CommDestroy, comm);
    if (refused != ncclSuccess) return refused;
    if (const Communicator* const ended = forget(comm)) end(*ended);
    return refused;
  }
  forget_parts_of(comm);
  const Communicator* const ended = forget(comm);
  const ncclResult_t result = THINWIRE_PASS(CommDestroy, comm);
  if (ended != nullptr) end(*ended);
  return result;
}

// NCCL refuses calls from here on. In a group those before it are still kept.
THINWIRE_EXPORTED ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (!Inside::now() && is_unfinished(comm)) return ncclInvalidArgument;
  const ncclResult_t result = THINWIRE_PASS(CommFinalize, comm);
  const bool goes_on = result == ncclSuccess || result == ncclInProgress;
  if (Inside::now() || !goes_on || in_group() || !settings().could_compress) return result;
  Communicator* found = nullptr;
  with_begun(comm, [&](Communicator* of) { found = of; });
  if (found != nullptr && !found->finalized.exchange(true)) end(*found);
  return result;
}

THINWIRE_EXPORTED ncclResult_t ncclCommRevoke(ncclComm_t comm, int flags) {
  if (Inside::now()) return THINWIRE_PASS(CommRevoke, comm, flags);
  stop_calls(comm);
  with_begun(comm, [](Communicator* of) {
    if (of != nullptr) of->revoked = true;
  });
  return THINWIRE_PASS(CommRevoke, comm, flags);
}

// Nothing is numbered until it is resumed: NCCL refuses all calls. What is under way NCCL waits
// for.
THINWIRE_EXPORTED ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags) {
  if (Inside::now()) return THINWIRE_PASS(CommSuspend, comm, flags);
  if (is_unfinished(comm)) return ncclInvalidArgument;
  const ncclResult_t result = THINWIRE_PASS(CommSuspend, comm, flags);
  if (result == ncclSuccess || result == ncclInProgress) set_suspended(comm, true);
  return result;
}

THINWIRE_EXPORTED ncclResult_t ncclCommResume(ncclComm_t comm) {
  const ncclResult_t result = THINWIRE_PASS(CommResume, comm);
  if (Inside::now()) return result;
  if (result == ncclSuccess || result == ncclInProgress) set_suspended(comm, false);
  return result;
}

THINWIRE_EXPORTED ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (Inside::now()) return THINWIRE_PASS(CommAbort, comm);
  forget_parts_of(comm);
  Communicator* const ended = forget(comm);
  if (ended == nullptr) return THINWIRE_PASS(CommAbort, comm);
  drop_unfinished(*ended);
  // Before NCCL waits for a thread or a stream of this process that waits here.
  Coder* const coder = ended->coder.load();
  if (coder != nullptr) {
    coder->abort();
  } else if (ended->agreed) {
    ended->agreed->abort();
  }
  const ncclResult_t result = THINWIRE_PASS(CommAbort, comm);
  if (coder != nullptr) end(*ended);
  return result;
}
