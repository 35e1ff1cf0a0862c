// NCCL's functions, from the library that this process has or is told of.
#pragma once

#include <nccl.h>

#include "base/status.h"

namespace thinwire::transport::nccl {

struct Library {
  decltype(&ncclGetVersion) get_version;
  decltype(&ncclGetErrorString) error_string;
  decltype(&ncclGetLastError) last_error;
  decltype(&ncclCommUserRank) user_rank;
  decltype(&ncclCommCount) count;
  decltype(&ncclCommGetAsyncError) async_error;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) receive;
};

// Loaded when first asked for, and never unloaded: the one that the process has already, else the
// file that THINWIRE_NCCL names, else libnccl.so.2 as the system finds it. kUnsupported where there
// is none, or one before 2.13.
Result<const Library*> library();

}  // namespace thinwire::transport::nccl
