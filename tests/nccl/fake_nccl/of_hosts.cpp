// The functions that a libnccl does not have if it passes for one of GPUs, or for one before 2.28.
#include "calls.h"
#include "entry.h"
#include "group.h"
#include "reduce.h"

namespace fake_nccl {

FAKE_NCCL(OnHostMemory) { return ncclSuccess; }

FAKE_NCCL(AlltoAll, const void* send, void* receive, std::size_t count, ncclDataType_t type,
          ncclComm_t comm, cudaStream_t stream) {
  const std::size_t bytes = count * element_bytes(type);
  const Call call{kAlltoAll, type, 0, -1, count};
  return submit(Kind::kMessage, comm, stream, [=](Exchange& messages) {
    for (int peer = 0; peer < comm->ranks; ++peer) {
      messages.send(peer, call, at(send, peer * bytes), bytes);
      messages.receive(peer, call, at(receive, peer * bytes), bytes);
    }
  });
}

FAKE_NCCL(Gather, const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
          ncclComm_t comm, cudaStream_t stream) {
  if (!is_alive(comm) || root < 0 || root >= comm->ranks) return refuse(ncclInvalidArgument);
  const std::size_t bytes = count * element_bytes(type);
  const Call call{kGather, type, 0, root, count};
  return submit(Kind::kMessage, comm, stream, [=](Exchange& messages) {
    const bool is_root = comm->rank == root;
    for (int peer = 0; peer < comm->ranks; ++peer) {
      messages.send(peer, call, send, peer == root ? bytes : 0);
      messages.receive(peer, call, is_root ? at(receive, peer * bytes) : nullptr,
                       is_root ? bytes : 0);
    }
  });
}

FAKE_NCCL(Scatter, const void* send, void* receive, std::size_t count, ncclDataType_t type,
          int root, ncclComm_t comm, cudaStream_t stream) {
  if (!is_alive(comm) || root < 0 || root >= comm->ranks) return refuse(ncclInvalidArgument);
  const std::size_t bytes = count * element_bytes(type);
  const Call call{kScatter, type, 0, root, count};
  return submit(Kind::kMessage, comm, stream, [=](Exchange& messages) {
    const bool is_root = comm->rank == root;
    for (int peer = 0; peer < comm->ranks; ++peer) {
      messages.send(peer, call, is_root ? at(send, peer * bytes) : nullptr, is_root ? bytes : 0);
      messages.receive(peer, call, receive, peer == root ? bytes : 0);
    }
  });
}

}  // namespace fake_nccl
