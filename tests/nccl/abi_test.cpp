// NCCL's own header and shim/nccl/native agree: compiling this is the test. The signatures are
// compared by declaring the functions of the one again as the other has them.
#include <nccl.h>

#include <cstddef>

#include "native/nccl_abi.h"

static_assert(sizeof(ncclUniqueId) == 128);
static_assert(ncclSuccess == 0 && ncclUnhandledCudaError == 1 && ncclSystemError == 2 &&
              ncclInternalError == 3 && ncclInvalidArgument == 4 && ncclInvalidUsage == 5);
static_assert(ncclSum == 0 && ncclProd == 1 && ncclMax == 2 && ncclMin == 3 && ncclAvg == 4);
static_assert(sizeof(ncclSimInfo_t) == 24 && NCCL_SHRINK_ABORT == 1);
static_assert(NCCL_SPLIT_NOCOLOR == -1);
static_assert(ncclNumOps == 5 && ncclScalarDevice == 0 && ncclScalarHostImmediate == 1);
static_assert(ncclInt8 == 0 && ncclUint8 == 1 && ncclInt32 == 2 && ncclUint32 == 3 &&
              ncclInt64 == 4 && ncclUint64 == 5);
static_assert(ncclFloat16 == 6 && ncclFloat32 == 7 && ncclFloat64 == 8 && ncclBfloat16 == 9);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 24, 0)
static_assert(ncclFloat8e4m3 == 10 && ncclFloat8e5m2 == 11);
#endif
static_assert(offsetof(ncclConfig_t, magic) == 8 && offsetof(ncclConfig_t, version) == 12 &&
              offsetof(ncclConfig_t, blocking) == 16);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 31, 0)
static_assert(offsetof(ncclCollConfig_t, magic) == 8 && offsetof(ncclCollConfig_t, ext) == 16 &&
              offsetof(ncclCollConfig_t, minCTAs) == 24 &&
              offsetof(ncclCollConfig_t, cgaClusterSize) == 36 &&
              offsetof(ncclCollConfig_t, algSelection) == 40 &&
              offsetof(ncclCollConfig_t, CTAPolicy) == 52 &&
              offsetof(ncclCollConfig_t, userProfilerTag) == 56);
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 32, 0)
static_assert(offsetof(ncclCollConfig_t, launchCompletionEvent) == 64 &&
              sizeof(ncclCollConfig_t) == 72);
#endif
static_assert(ncclRemoteError == 6 && ncclInProgress == 7);
