// NCCL's functions for programs that are linked to no NCCL: each is looked up by its name among
// what the process has loaded, as the loader would have bound it, so that a preload library is met
// first. NCCL is the file that THINWIRE_NCCL names, or libnccl.so.2.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "native/nccl_abi.h"
#include "nccl_registration.h"

namespace {

bool load() {
  const char* const named = std::getenv("THINWIRE_NCCL");
  const char* const file = named != nullptr && *named != '\0' ? named : "libnccl.so.2";
  if (dlopen(file, RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
  std::fprintf(stderr, "failed: %s\n", dlerror());
  std::_Exit(1);
}

template <typename Function>
Function find(const char* name) {
  static const bool loaded = load();
  void* const found = loaded ? dlsym(RTLD_DEFAULT, name) : nullptr;
  if (found != nullptr) return reinterpret_cast<Function>(found);
  std::fprintf(stderr, "failed: no %s\n", name);
  std::_Exit(1);
}

}  // namespace

// Hidden, or they would find themselves.
#define BY_NAME(function, parameters, arguments)                           \
  __attribute__((visibility("hidden"))) ncclResult_t function parameters { \
    static const auto found = find<ncclResult_t(*) parameters>(#function); \
    return found arguments;                                                \
  }

BY_NAME(ncclGetVersion, (int* version), (version))
BY_NAME(ncclGetUniqueId, (ncclUniqueId * id), (id))
BY_NAME(ncclCommInitRank, (ncclComm_t * made, int ranks, ncclUniqueId id, int rank),
        (made, ranks, id, rank))
BY_NAME(ncclCommInitRankConfig,
        (ncclComm_t * made, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config),
        (made, ranks, id, rank, config))
BY_NAME(ncclCommCount, (ncclComm_t comm, int* ranks), (comm, ranks))
BY_NAME(ncclCommUserRank, (ncclComm_t comm, int* rank), (comm, rank))
BY_NAME(ncclCommSplit,
        (ncclComm_t parent, int color, int key, ncclComm_t* made, ncclConfig_t* config),
        (parent, color, key, made, config))
BY_NAME(ncclCommShrink,
        (ncclComm_t parent, int* excluded, int count, ncclComm_t* made, ncclConfig_t* config,
         int flags),
        (parent, excluded, count, made, config, flags))
BY_NAME(ncclCommGetUniqueId, (ncclComm_t comm, ncclUniqueId* id), (comm, id))
BY_NAME(ncclCommGrow,
        (ncclComm_t comm, int ranks, const ncclUniqueId* id, int rank, ncclComm_t* made,
         ncclConfig_t* config),
        (comm, ranks, id, rank, made, config))
BY_NAME(ncclCommSuspend, (ncclComm_t comm, int flags), (comm, flags))
BY_NAME(ncclCommResume, (ncclComm_t comm), (comm))
BY_NAME(ncclCommFinalize, (ncclComm_t comm), (comm))
BY_NAME(ncclCommRevoke, (ncclComm_t comm, int flags), (comm, flags))
BY_NAME(ncclCommDestroy, (ncclComm_t comm), (comm))
BY_NAME(ncclCommAbort, (ncclComm_t comm), (comm))
BY_NAME(ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t* error), (comm, error))
BY_NAME(ncclGroupStart, (), ())
BY_NAME(ncclGroupEnd, (), ())
BY_NAME(ncclGroupSimulateEnd, (ncclSimInfo_t * info), (info))
BY_NAME(ncclAllReduce,
        (const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
         ncclComm_t comm, cudaStream_t stream),
        (send, receive, count, type, op, comm, stream))
BY_NAME(ncclReduce,
        (const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
         int root, ncclComm_t comm, cudaStream_t stream),
        (send, receive, count, type, op, root, comm, stream))
BY_NAME(ncclReduceScatter,
        (const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
         ncclComm_t comm, cudaStream_t stream),
        (send, receive, count, type, op, comm, stream))
BY_NAME(ncclAllGather,
        (const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclComm_t comm,
         cudaStream_t stream),
        (send, receive, count, type, comm, stream))
BY_NAME(ncclAlltoAll,
        (const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclComm_t comm,
         cudaStream_t stream),
        (send, receive, count, type, comm, stream))
BY_NAME(ncclGather,
        (const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
         ncclComm_t comm, cudaStream_t stream),
        (send, receive, count, type, root, comm, stream))
BY_NAME(ncclScatter,
        (const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
         ncclComm_t comm, cudaStream_t stream),
        (send, receive, count, type, root, comm, stream))
BY_NAME(ncclBroadcast,
        (const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
         ncclComm_t comm, cudaStream_t stream),
        (send, receive, count, type, root, comm, stream))
BY_NAME(ncclSend,
        (const void* send, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
         cudaStream_t stream),
        (send, count, type, peer, comm, stream))
BY_NAME(ncclRecv,
        (void* receive, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
         cudaStream_t stream),
        (receive, count, type, peer, comm, stream))
BY_NAME(ncclRedOpCreatePreMulSum,
        (ncclRedOp_t * op, void* scalar, ncclDataType_t type, ncclScalarResidence_t residence,
         ncclComm_t comm),
        (op, scalar, type, residence, comm))
BY_NAME(ncclRedOpDestroy, (ncclRedOp_t op, ncclComm_t comm), (op, comm))
BY_NAME(ncclMemAlloc, (void** made, std::size_t bytes), (made, bytes))
BY_NAME(ncclMemFree, (void* memory), (memory))
BY_NAME(ncclCommRegister, (ncclComm_t comm, void* buffer, std::size_t bytes, void** handle),
        (comm, buffer, bytes, handle))
BY_NAME(ncclCommDeregister, (ncclComm_t comm, void* handle), (comm, handle))
