// The functions that a libnccl does not have if it passes for one of GPUs, or for one before 2.28.
#include <cstddef>
#include <cstring>

#include "configured.h"
#include "exchange.h"
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

// The collectives' twins of 2.31, which take a configuration of the call, and functions that no
// library over NCCL knows.
namespace {

// As NCCL has it: read in the call, refused if it is none or asks for what there is not.
bool take(const ncclCollConfig_t* config) {
  if (config == nullptr) return true;
  if (config->magic != 0xcafebeef) return false;
  const bool names_one = config->algSelection != nullptr && *config->algSelection != '\0';
  if (names_one && std::strcmp(config->algSelection, "ring") != 0) return false;
  for (const auto* each = static_cast<const Extension*>(config->ext); each != nullptr;
       each = each->next) {
    if (each->vendor == kVendor) ++*static_cast<std::atomic<int>*>(each->value);
  }
  return true;
}

}  // namespace

#define TWIN(name, kind, ...)                                                                      \
  extern "C" ncclResult_t pnccl##name(                                                             \
      const void* send, void* receive, std::size_t count, ncclDataType_t type,                     \
      THINWIRE_NCCL_TAKES_##kind ncclComm_t comm, cudaStream_t stream);                            \
  FAKE_NCCL(name##Config, const void* send, void* receive, std::size_t count, ncclDataType_t type, \
            THINWIRE_NCCL_TAKES_##kind ncclComm_t comm, cudaStream_t stream,                       \
            const ncclCollConfig_t* config) {                                                      \
    if (!take(config)) return refuse(ncclInvalidArgument);                                         \
    return pnccl##name(send, receive, count, type, GIVES_##kind comm, stream);                     \
  }
#define GIVES_MOVES
#define GIVES_ROOT root,
#define GIVES_SUM op,
#define GIVES_SUM_AT_ROOT op, root,
THINWIRE_NCCL_COLLECTIVES(TWIN)

FAKE_NCCL(MoveByLink) { return ncclSuccess; }
FAKE_NCCL(MoveByName) { return ncclSuccess; }

}  // namespace fake_nccl
