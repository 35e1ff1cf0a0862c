// The calls that move data: every rank sends its part to every other one, which adds it up itself.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "device_memory.h"
#include "exchange.h"
#include "group.h"
#include "reduce.h"

namespace fake_nccl {
namespace {

// The values that every rank gave for this one's result, one after the other.
using Parts = std::shared_ptr<std::vector<std::byte>>;

// Null: it is none. The program may end it before the stream comes by.
OwnSumRef own_sum(ncclComm_t comm, int op, ncclDataType_t type) {
  const std::lock_guard lock(comm->mutex);
  const auto found = comm->own_sums.find(op);
  const bool fits = found != comm->own_sums.end() && found->second->type == type;
  return fits ? found->second : nullptr;
}

// As NCCL, of whose collectives trees do AllReduce alone.
bool has_no_algorithm() {
  const char* const named = std::getenv("NCCL_ALGO");
  return named != nullptr && std::strcmp(named, "Tree") == 0;
}

// `all`: every rank gives each the whole `count`; else a block of `count` to each.
ncclResult_t reduce(Call call, bool all, const void* send, void* receive, ncclDataType_t type,
                    ncclComm_t comm, cudaStream_t stream) {
  if (!is_alive(comm)) return refuse(ncclInvalidArgument);
  if (call.kind != kAllReduce && has_no_algorithm()) return refuse(ncclInvalidUsage);
  const OwnSumRef own = own_sum(comm, call.op, type);
  // Handles are each rank's own.
  if (own) call.op = ncclNumOps;
  if (!own && !can_reduce(type, call.op)) return refuse(ncclInvalidArgument);
  const std::size_t bytes = call.count * element_bytes(type);
  const bool wanted = call.root < 0 || call.root == comm->rank;
  const Parts parts = std::make_shared<std::vector<std::byte>>();
  const Parts multiplied = std::make_shared<std::vector<std::byte>>();
  const auto before = [=](Exchange& messages) {
    if (wanted) parts->resize(bytes * comm->ranks);
    const void* from = send;
    if (own) {
      multiplied->resize(bytes * (all ? 1 : comm->ranks) + 1);
      const std::size_t values = call.count * (all ? 1 : comm->ranks);
      multiply(*own, at(send, 0), values, multiplied->data());
      from = multiplied->data();
    }
    for (int peer = 0; peer < comm->ranks; ++peer) {
      const bool gives = call.root < 0 || call.root == peer;
      messages.send(peer, call, at(from, all ? 0 : peer * bytes), gives ? bytes : 0);
      messages.receive(peer, call, parts->data() + (wanted ? peer * bytes : 0), wanted ? bytes : 0);
    }
  };
  const auto after = [=] {
    if (!wanted) return;
    reduce_parts(parts->data(), comm->ranks, call.count, type, own ? ncclSum : call.op);
    std::memcpy(receive, parts->data(), bytes);
  };
  return submit(Kind::kCollective, comm, stream, before, after);
}

thread_local bool t_refuses_sends = false;

}  // namespace

FAKE_NCCL(AllReduce, const void* send, void* receive, std::size_t count, ncclDataType_t type,
          ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return reduce({kAllReduce, type, op, -1, count}, true, send, receive, type, comm, stream);
}

FAKE_NCCL(Reduce, const void* send, void* receive, std::size_t count, ncclDataType_t type,
          ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return reduce({kReduce, type, op, root, count}, true, send, receive, type, comm, stream);
}

FAKE_NCCL(ReduceScatter, const void* send, void* receive, std::size_t count, ncclDataType_t type,
          ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return reduce({kReduceScatter, type, op, -1, count}, false, send, receive, type, comm, stream);
}

FAKE_NCCL(AllGather, const void* send, void* receive, std::size_t count, ncclDataType_t type,
          ncclComm_t comm, cudaStream_t stream) {
  if (has_no_algorithm()) return refuse(ncclInvalidUsage);
  const std::size_t bytes = count * element_bytes(type);
  const Call call{kAllGather, ncclInt8, 0, -1, bytes};  // as NCCL takes it
  return submit(Kind::kCollective, comm, stream, [=](Exchange& messages) {
    for (int peer = 0; peer < comm->ranks; ++peer) {
      messages.send(peer, call, send, bytes);
      // In place this rank's own block is what it sends.
      messages.receive(peer, call, at(receive, peer * bytes), bytes);
    }
  });
}

FAKE_NCCL(Broadcast, const void* send, void* receive, std::size_t count, ncclDataType_t type,
          int root, ncclComm_t comm, cudaStream_t stream) {
  if (!is_alive(comm) || root < 0 || root >= comm->ranks) return refuse(ncclInvalidArgument);
  if (has_no_algorithm()) return refuse(ncclInvalidUsage);
  const std::size_t bytes = count * element_bytes(type);
  const Call call{kBroadcast, type, 0, root, count};
  // The others send an empty message, so that every rank sees what every other one has called.
  return submit(Kind::kCollective, comm, stream, [=](Exchange& messages) {
    for (int peer = 0; peer < comm->ranks; ++peer) {
      messages.send(peer, call, send, comm->rank == root ? bytes : 0);
      messages.receive(peer, call, receive, peer == root ? bytes : 0);
    }
  });
}

// Through a public name, as NCCL itself does.
FAKE_NCCL(Bcast, void* buffer, std::size_t count, ncclDataType_t type, int root, ncclComm_t comm,
          cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

FAKE_NCCL(Send, const void* send, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
          cudaStream_t stream) {
  if (!is_alive(comm) || peer < 0 || peer >= comm->ranks) return refuse(ncclInvalidArgument);
  if (t_refuses_sends) return refuse(ncclSystemError);
  if (!connect_with(comm, peer)) return refuse(ncclUnhandledCudaError);
  const std::size_t bytes = count * element_bytes(type);
  return submit(Kind::kMessage, comm, stream, [=](Exchange& messages) {
    messages.send(peer, {kMessage, 0, 0, -1, bytes}, send, bytes);
  });
}

FAKE_NCCL(Recv, void* receive, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
          cudaStream_t stream) {
  if (!is_alive(comm) || peer < 0 || peer >= comm->ranks) return refuse(ncclInvalidArgument);
  if (!connect_with(comm, peer)) return refuse(ncclUnhandledCudaError);
  const std::size_t bytes = count * element_bytes(type);
  return submit(Kind::kMessage, comm, stream, [=](Exchange& messages) {
    messages.receive(peer, {kMessage, 0, 0, -1, bytes}, receive, bytes);
  });
}

}  // namespace fake_nccl

extern "C" __attribute__((visibility("default"))) void fakeNcclRefuseSends(bool refuses) {
  fake_nccl::t_refuses_sends = refuses;
}
