// The calls that move data.
#include "entry/group.h"
#include "entry/submit.h"
#include "members/membership.h"
#include "native/call_native.h"
#include "state/communicators.h"
#include "state/settings.h"

using namespace thinwire::nccl;

// Reduction and root of a call.
#define THINWIRE_NCCL_HAS_MOVES ncclSum, 0
#define THINWIRE_NCCL_HAS_ROOT ncclSum, root
#define THINWIRE_NCCL_HAS_SUM op, 0
#define THINWIRE_NCCL_HAS_SUM_AT_ROOT op, root

#define THINWIRE_NCCL_CALL(name, kind, ...)                                                        \
  THINWIRE_EXPORTED ncclResult_t nccl##name(                                                       \
      const void* send, void* receive, std::size_t elements, ncclDataType_t type,                  \
      THINWIRE_NCCL_TAKES_##kind ncclComm_t comm, cudaStream_t stream) {                           \
    return submit(                                                                                 \
        {k##name, send, receive, elements, type, THINWIRE_NCCL_HAS_##kind, comm, stream});         \
  }                                                                                                \
  THINWIRE_EXPORTED ncclResult_t nccl##name##Config(                                               \
      const void* send, void* receive, std::size_t elements, ncclDataType_t type,                  \
      THINWIRE_NCCL_TAKES_##kind ncclComm_t comm, cudaStream_t stream,                             \
      const ncclCollConfig_t* config) {                                                            \
    return submit(                                                                                 \
        {k##name, send, receive, elements, type, THINWIRE_NCCL_HAS_##kind, comm, stream, config}); \
  }
THINWIRE_NCCL_COLLECTIVES(THINWIRE_NCCL_CALL)
#undef THINWIRE_NCCL_CALL

// The older broadcast, which NCCL itself turns into ncclBroadcast.
THINWIRE_EXPORTED ncclResult_t ncclBcast(void* buffer, std::size_t elements, ncclDataType_t type,
                                         int root, ncclComm_t comm, cudaStream_t stream) {
  return submit({kBroadcast, buffer, buffer, elements, type, ncclSum, root, comm, stream});
}

THINWIRE_EXPORTED ncclResult_t ncclSend(const void* send, std::size_t elements, ncclDataType_t type,
                                        int peer, ncclComm_t comm, cudaStream_t stream) {
  return submit({kSend, send, nullptr, elements, type, ncclSum, peer, comm, stream});
}

THINWIRE_EXPORTED ncclResult_t ncclRecv(void* receive, std::size_t elements, ncclDataType_t type,
                                        int peer, ncclComm_t comm, cudaStream_t stream) {
  return submit({kRecv, nullptr, receive, elements, type, ncclSum, peer, comm, stream});
}

// Reductions of the program's own. What one multiplies by is kept for calls that are compressed.

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
