// Reductions of the program's own. What one multiplies by is kept for calls that are compressed.
#include "entry/group.h"
#include "members/membership.h"
#include "native/call_native.h"
#include "state/communicators.h"
#include "state/settings.h"

using namespace thinwire::nccl;

THINWIRE_EXPORTED ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar,
                                                        ncclDataType_t type,
                                                        ncclScalarResidence_t where,
                                                        ncclComm_t comm) {
  return guarded(THINWIRE_NATIVE(RedOpCreatePreMulSum, op, scalar, type, where, comm),
                 [&](auto& native) {
                   const ncclResult_t result = native();
                   if (result == ncclSuccess && !Inside::now() && settings().could_compress)
                     counted(comm).own_sums.add(*op, scalar, type, where);
                   return result;
                 });
}

// Beforehand: NCCL may give the handle to another thread's reduction at once.
THINWIRE_EXPORTED ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  return guarded(THINWIRE_NATIVE(RedOpDestroy, op, comm), [&](auto& native) {
    if (!Inside::now() && settings().could_compress) counted(comm).own_sums.remove(op);
    if (!Inside::now() && kept_end_of(op, comm)) return ncclSuccess;
    return native();
  });
}
