// The calls that move data. All go to NCCL as they are; what they ask is counted.
#include "calls/pass.h"
#include "process/counters.h"
#include "process/report.h"

namespace thinwire::nccl {
namespace {

bool wants_count() {
  if (Inside::now() || settings().disabled || settings().report.empty()) return false;
  report_at_exit();
  return true;
}

void count(Counters& counters, std::uint64_t bytes, int reason) {
  counters.calls.fetch_add(1, std::memory_order_relaxed);
  counters.bytes.fetch_add(bytes, std::memory_order_relaxed);
  counters.raw[reason].fetch_add(1, std::memory_order_relaxed);
}

void count_move(Operation operation, ncclComm_t comm, std::size_t elements, ncclDataType_t type,
                bool gives) {
  if (!wants_count()) return;
  const std::uint64_t bytes = elements * element_bytes(type);
  count(counted(comm).of[operation], gives ? bytes : 0, reason_for(settings(), type, bytes));
}

// Of a broadcast every rank judges the whole buffer, and the root alone gives it.
void count_broadcast(ncclComm_t comm, std::size_t elements, ncclDataType_t type, int root) {
  if (!wants_count()) return;
  count_move(kBroadcast, comm, elements, type, counted(comm).rank == root);
}

// A reduce-scatter takes a block for each rank.
void count_sum(Operation operation, ncclComm_t comm, std::size_t elements, ncclDataType_t type,
               ncclRedOp_t op) {
  if (!wants_count()) return;
  Communicator& communicator = counted(comm);
  const std::uint64_t blocks =
      operation == kReduceScatter ? static_cast<std::uint64_t>(communicator.ranks) : 1;
  const std::uint64_t bytes = blocks * elements * element_bytes(type);
  count(communicator.of[operation], bytes, reason_for_sum(settings(), type, op, bytes));
}

}  // namespace
}  // namespace thinwire::nccl

using namespace thinwire::nccl;

THINWIRE_EXPORTED ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t elements,
                                             ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                                             cudaStream_t stream) {
  count_sum(kAllReduce, comm, elements, type, op);
  return THINWIRE_PASS(AllReduce, send, receive, elements, type, op, comm, stream);
}

THINWIRE_EXPORTED ncclResult_t ncclReduce(const void* send, void* receive, std::size_t elements,
                                          ncclDataType_t type, ncclRedOp_t op, int root,
                                          ncclComm_t comm, cudaStream_t stream) {
  count_sum(kReduce, comm, elements, type, op);
  return THINWIRE_PASS(Reduce, send, receive, elements, type, op, root, comm, stream);
}

THINWIRE_EXPORTED ncclResult_t ncclReduceScatter(const void* send, void* receive,
                                                 std::size_t elements, ncclDataType_t type,
                                                 ncclRedOp_t op, ncclComm_t comm,
                                                 cudaStream_t stream) {
  count_sum(kReduceScatter, comm, elements, type, op);
  return THINWIRE_PASS(ReduceScatter, send, receive, elements, type, op, comm, stream);
}

THINWIRE_EXPORTED ncclResult_t ncclAllGather(const void* send, void* receive, std::size_t elements,
                                             ncclDataType_t type, ncclComm_t comm,
                                             cudaStream_t stream) {
  count_move(kAllGather, comm, elements, type, true);
  return THINWIRE_PASS(AllGather, send, receive, elements, type, comm, stream);
}

THINWIRE_EXPORTED ncclResult_t ncclBroadcast(const void* send, void* receive, std::size_t elements,
                                             ncclDataType_t type, int root, ncclComm_t comm,
                                             cudaStream_t stream) {
  count_broadcast(comm, elements, type, root);
  return THINWIRE_PASS(Broadcast, send, receive, elements, type, root, comm, stream);
}

THINWIRE_EXPORTED ncclResult_t ncclBcast(void* buffer, std::size_t elements, ncclDataType_t type,
                                         int root, ncclComm_t comm, cudaStream_t stream) {
  count_broadcast(comm, elements, type, root);
  return THINWIRE_PASS(Bcast, buffer, elements, type, root, comm, stream);
}

THINWIRE_EXPORTED ncclResult_t ncclSend(const void* send, std::size_t elements, ncclDataType_t type,
                                        int peer, ncclComm_t comm, cudaStream_t stream) {
  count_move(kSend, comm, elements, type, true);
  return THINWIRE_PASS(Send, send, elements, type, peer, comm, stream);
}

THINWIRE_EXPORTED ncclResult_t ncclRecv(void* receive, std::size_t elements, ncclDataType_t type,
                                        int peer, ncclComm_t comm, cudaStream_t stream) {
  count_move(kRecv, comm, elements, type, false);
  return THINWIRE_PASS(Recv, receive, elements, type, peer, comm, stream);
}
