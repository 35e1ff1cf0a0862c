// The calls after which a communicator's handle has another meaning, or none.
#include "calls/pass.h"
#include "coding/service.h"
#include "process/counters.h"

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
