// The NCCL underneath: its pnccl functions, found at the first call of any wrapper.
#pragma once

#include "native/nccl_abi.h"

// Every function of NCCL that this library calls, beside the collectives. Those of later versions
// are absent from earlier ones and never assumed.
// clang-format off
#define THINWIRE_NCCL_CALLS(X)                                                          \
  X(GetVersion) X(GetUniqueId) X(CommInitRank) X(CommInitRankConfig)                    \
  X(CommInitRankScalable) X(CommInitAll) X(CommSplit) X(CommGetAsyncError)              \
  X(CommDestroy) X(CommAbort) X(CommCount) X(CommUserRank) X(GroupStart) X(GroupEnd)    \
  X(Bcast) X(Send) X(Recv) X(RedOpCreatePreMulSum) X(RedOpDestroy) X(CommFinalize) X(CommRevoke)         \
  X(CommGetUniqueId) X(CommGrow) X(CommSuspend) X(CommResume)                           \
  X(CommShrink) X(GroupSimulateEnd) X(CommCuDevice) X(OnHostMemory)                     \
  X(CommWindowRegister) X(CommWindowDeregister)
// clang-format on

namespace thinwire::nccl {

struct Real {
#define THINWIRE_NCCL_CALL(name) decltype(&nccl##name) name = nullptr;
  THINWIRE_NCCL_CALLS(THINWIRE_NCCL_CALL)
#define THINWIRE_NCCL_COLLECTIVE(name, ...) \
  THINWIRE_NCCL_CALL(name) THINWIRE_NCCL_CALL(name##Config)
  THINWIRE_NCCL_COLLECTIVES(THINWIRE_NCCL_COLLECTIVE)
#undef THINWIRE_NCCL_COLLECTIVE
#undef THINWIRE_NCCL_CALL
};

const Real& real();

// A function by its name if the NCCL underneath has its own; null if there is none.
void* find(const char* name);

// Says, once a name, that the NCCL here has no such function; the error for the program.
ncclResult_t not_there(const char* name);

}  // namespace thinwire::nccl
