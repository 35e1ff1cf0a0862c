// The calls that move data.
#include "calls/pass.h"
#include "calls/submit.h"

using namespace thinwire::nccl;

THINWIRE_EXPORTED ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t elements,
                                             ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                                             cudaStream_t stream) {
  return submit({kAllReduce, send, receive, elements, type, op, 0, comm, stream});
}

THINWIRE_EXPORTED ncclResult_t ncclReduce(const void* send, void* receive, std::size_t elements,
                                          ncclDataType_t type, ncclRedOp_t op, int root,
                                          ncclComm_t comm, cudaStream_t stream) {
  return submit({kReduce, send, receive, elements, type, op, root, comm, stream});
}

THINWIRE_EXPORTED ncclResult_t ncclReduceScatter(const void* send, void* receive,
                                                 std::size_t elements, ncclDataType_t type,
                                                 ncclRedOp_t op, ncclComm_t comm,
                                                 cudaStream_t stream) {
  return submit({kReduceScatter, send, receive, elements, type, op, 0, comm, stream});
}

THINWIRE_EXPORTED ncclResult_t ncclAllGather(const void* send, void* receive, std::size_t elements,
                                             ncclDataType_t type, ncclComm_t comm,
                                             cudaStream_t stream) {
  return submit({kAllGather, send, receive, elements, type, ncclSum, 0, comm, stream});
}

THINWIRE_EXPORTED ncclResult_t ncclBroadcast(const void* send, void* receive, std::size_t elements,
                                             ncclDataType_t type, int root, ncclComm_t comm,
                                             cudaStream_t stream) {
  return submit({kBroadcast, send, receive, elements, type, ncclSum, root, comm, stream});
}

// What NCCL's own makes of it.
THINWIRE_EXPORTED ncclResult_t ncclBcast(void* buffer, std::size_t elements, ncclDataType_t type,
                                         int root, ncclComm_t comm, cudaStream_t stream) {
  return submit({kBroadcast, buffer, buffer, elements, type, ncclSum, root, comm, stream});
}

THINWIRE_EXPORTED ncclResult_t ncclAlltoAll(const void* send, void* receive, std::size_t elements,
                                            ncclDataType_t type, ncclComm_t comm,
                                            cudaStream_t stream) {
  return submit({kAlltoAll, send, receive, elements, type, ncclSum, 0, comm, stream});
}

THINWIRE_EXPORTED ncclResult_t ncclGather(const void* send, void* receive, std::size_t elements,
                                          ncclDataType_t type, int root, ncclComm_t comm,
                                          cudaStream_t stream) {
  return submit({kGather, send, receive, elements, type, ncclSum, root, comm, stream});
}

THINWIRE_EXPORTED ncclResult_t ncclScatter(const void* send, void* receive, std::size_t elements,
                                           ncclDataType_t type, int root, ncclComm_t comm,
                                           cudaStream_t stream) {
  return submit({kScatter, send, receive, elements, type, ncclSum, root, comm, stream});
}

THINWIRE_EXPORTED ncclResult_t ncclSend(const void* send, std::size_t elements, ncclDataType_t type,
                                        int peer, ncclComm_t comm, cudaStream_t stream) {
  return submit({kSend, send, nullptr, elements, type, ncclSum, peer, comm, stream});
}

THINWIRE_EXPORTED ncclResult_t ncclRecv(void* receive, std::size_t elements, ncclDataType_t type,
                                        int peer, ncclComm_t comm, cudaStream_t stream) {
  return submit({kRecv, nullptr, receive, elements, type, ncclSum, peer, comm, stream});
}
