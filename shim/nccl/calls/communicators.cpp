// The calls after which a communicator's handle has another meaning, or none.
#include "calls/communicators.h"

#include "calls/group.h"
#include "calls/pass.h"
#include "coding/service.h"
#include "process/counters.h"
#include "process/settings.h"

namespace thinwire::nccl {

// Before NCCL waits for a thread or a stream of this process that waits here.
void stop_calls(ncclComm_t comm) {
  if (!settings().could_compress) return;
  with_begun(comm, [](Communicator* found) {
    if (found == nullptr) return;
    if (Coder* const coder = found->coder.load()) {
      coder->revoke();
    } else if (found->agreed) {
      found->agreed->revoke();
    }
  });
}

}  // namespace thinwire::nccl

using namespace thinwire::nccl;

namespace {

// What is under way may still need what it had agreed.
void end(const Communicator& ended) {
  if (Coder* const coder = ended.coder.load()) {
    coder->end();
    look_after(*coder);
  } else if (ended.agreed) {
    ended.agreed->close();
  }
}

}  // namespace

// Forgotten beforehand: NCCL may give the handle to another thread's communicator before this call
// is over.
THINWIRE_EXPORTED ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (Inside::now()) return THINWIRE_PASS(CommDestroy, comm);
  const Communicator* const ended = forget(comm);
  const ncclResult_t result = THINWIRE_PASS(CommDestroy, comm);
  if (ended != nullptr) end(*ended);
  return result;
}

// NCCL refuses calls from here on. In a group those before it are still kept.
THINWIRE_EXPORTED ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  const ncclResult_t result = THINWIRE_PASS(CommFinalize, comm);
  const bool goes_on = result == ncclSuccess || result == ncclInProgress;
  if (Inside::now() || !goes_on || in_group() || !settings().could_compress) return result;
  Communicator* found = nullptr;
  with_begun(comm, [&](Communicator* of) { found = of; });
  if (found != nullptr && !found->finalized.exchange(true)) end(*found);
  return result;
}

THINWIRE_EXPORTED ncclResult_t ncclCommRevoke(ncclComm_t comm, int flags) {
  if (!Inside::now()) stop_calls(comm);
  return THINWIRE_PASS(CommRevoke, comm, flags);
}

THINWIRE_EXPORTED ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (Inside::now()) return THINWIRE_PASS(CommAbort, comm);
  const Communicator* const ended = forget(comm);
  if (ended == nullptr) return THINWIRE_PASS(CommAbort, comm);
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
