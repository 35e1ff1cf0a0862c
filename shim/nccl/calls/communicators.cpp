// The calls after which a communicator's handle has another meaning, or none.
#include "calls/pass.h"
#include "process/counters.h"

using namespace thinwire::nccl;

// Forgotten beforehand: NCCL may give the handle to another thread's communicator before this call
// is over.
THINWIRE_EXPORTED ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (!Inside::now()) forget(comm);
  return THINWIRE_PASS(CommDestroy, comm);
}

THINWIRE_EXPORTED ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (!Inside::now()) forget(comm);
  return THINWIRE_PASS(CommAbort, comm);
}
