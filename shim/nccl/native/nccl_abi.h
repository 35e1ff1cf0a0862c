// NCCL's C interface as far as this library and its tests use it, written from its documentation,
// so that building needs no CUDA. After NCCL's own header it adds declarations alone, which then
// have to agree with the header's: tests/nccl/abi_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/taken.h"

extern "C" {

#ifndef NCCL_H_  // NCCL's own

struct ncclComm;
struct CUstream_st;
using ncclComm_t = ncclComm*;
using cudaStream_t = CUstream_st*;

constexpr int kNcclUniqueIdBytes = 128;
struct ncclUniqueId {
  char internal[kNcclUniqueIdBytes];
};

enum ncclResult_t {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7
};

enum ncclRedOp_t {
  ncclSum = 0,
  ncclProd = 1,
  ncclMax = 2,
  ncclMin = 3,
  ncclAvg = 4,
  ncclNumOps = 5,  // from here on the program's own
  ncclMaxRedOp = 0x7fffffff
};

enum ncclScalarResidence_t { ncclScalarDevice = 0, ncclScalarHostImmediate = 1 };

enum ncclDataType_t {
  ncclInt8 = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclFloat32 = 7,
  ncclFloat64 = 8,
  ncclBfloat16 = 9,
  ncclFloat8e4m3 = 10,
  ncclFloat8e5m2 = 11
};

// The head of a configuration, which all versions share; the fields after it differ by version.
struct ncclConfig_t {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
};

struct ncclSimInfo_t {
  std::size_t size;
  unsigned magic;
  unsigned version;
  float estimatedTime;
};

struct ncclWindow_vidmem;
using ncclWindow_t = ncclWindow_vidmem*;

constexpr int NCCL_SHRINK_ABORT = 1;
constexpr int NCCL_SPLIT_NOCOLOR = -1;

// Wishes of a program for one collective. Later versions may add to its end: `size` says how much
// there is.
struct ncclCollConfig_t {
  std::size_t size;
  unsigned magic;
  unsigned version;
  void* ext;  // a list, of others than NCCL
  int minCTAs, maxCTAs, nvlsCTAs, cgaClusterSize;
  const char* algSelection;
  int forceAlgSelection;
  int CTAPolicy;
  std::uint64_t userProfilerTag;
  void* launchCompletionEvent;  // since 2.32
};

#else

#if NCCL_VERSION_CODE < NCCL_VERSION(2, 27, 0)
struct ncclWindow_vidmem;
using ncclWindow_t = ncclWindow_vidmem*;
#endif
#if NCCL_VERSION_CODE < NCCL_VERSION(2, 31, 0)
struct ncclCollConfig_t;
#endif

#endif

ncclResult_t ncclGetVersion(int* version);
ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitRank(ncclComm_t* made, int ranks, ncclUniqueId id, int rank);
ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config);
ncclResult_t ncclCommInitRankScalable(ncclComm_t* made, int ranks, int rank, int ids,
                                      ncclUniqueId* id, ncclConfig_t* config);
ncclResult_t ncclCommInitAll(ncclComm_t* made, int devices, const int* list);
ncclResult_t ncclCommSplit(ncclComm_t parent, int color, int key, ncclComm_t* made,
                           ncclConfig_t* config);
ncclResult_t ncclCommShrink(ncclComm_t parent, int* excluded, int count, ncclComm_t* made,
                            ncclConfig_t* config, int flags);
ncclResult_t ncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* id);
ncclResult_t ncclCommGrow(ncclComm_t comm, int ranks, const ncclUniqueId* id, int rank,
                          ncclComm_t* made, ncclConfig_t* config);
ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags);
ncclResult_t ncclCommResume(ncclComm_t comm);
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t ncclCommRevoke(ncclComm_t comm, int flags);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error);
ncclResult_t ncclCommCount(ncclComm_t comm, int* ranks);
ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* memory, std::size_t bytes,
                                    ncclWindow_t* handle, int flags);
ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t handle);
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device);
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank);
ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t where, ncclComm_t comm);
ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm);
#define THINWIRE_NCCL_CALL(name, kind, ...)                                                        \
  ncclResult_t nccl##name(const void* send, void* receive, std::size_t count, ncclDataType_t type, \
                          THINWIRE_NCCL_TAKES_##kind ncclComm_t comm, cudaStream_t stream);        \
  ncclResult_t nccl##name##Config(const void* send, void* receive, std::size_t count,              \
                                  ncclDataType_t type, THINWIRE_NCCL_TAKES_##kind ncclComm_t comm, \
                                  cudaStream_t stream, const ncclCollConfig_t* config);
THINWIRE_NCCL_COLLECTIVES(THINWIRE_NCCL_CALL)
#undef THINWIRE_NCCL_CALL
ncclResult_t ncclBcast(void* buffer, std::size_t count, ncclDataType_t type, int root,
                       ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclSend(const void* send, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclRecv(void* receive, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* info);

// Not NCCL's: one over host memory has it, whose streams are queues of host functions.
ncclResult_t ncclOnHostMemory();

}  // extern "C"
