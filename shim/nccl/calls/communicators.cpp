// The calls after which a communicator's handle has another meaning, or none.
#include "calls/pass.h"
#include "process/counters.h"

using namespace thinwire::nccl;

// Forgotten beforehand: NCCL may give the handle to another thread's communicator before this call
// is over.
THINWIRE_EXPORTED ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (Inside::now()) return THINWIRE_PASS(CommDestroy, comm);
  const agree::CommunicatorRef agreed = forget(comm);
  const ncclResult_t result = THINWIRE_PASS(CommDestroy, comm);
  // What NCCL still had to do may have needed it.
  if (agreed) agreed->close();
  return result;
}

THINWIRE_EXPORTED ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (Inside::now()) return THINWIRE_PASS(CommAbort, comm);
  // Before NCCL waits for a thread of this process that waits here.
  if (const agree::CommunicatorRef agreed = forget(comm)) agreed->abort();
  return THINWIRE_PASS(CommAbort, comm);
}
