// Memory that a program registers with NCCL or takes from it, written from NCCL's documentation. A
// handle tells here what it was made of, so that a program sees whether that came unchanged.
#pragma once

#include "native/nccl_abi.h"

struct ncclWindow_vidmem {
  ncclComm_t comm;
  void* memory;
  std::size_t bytes;
  int flags;  // -1: no window
};

namespace fake_nccl {
using Registered = ncclWindow_vidmem;
}  // namespace fake_nccl

constexpr int NCCL_WIN_COLL_SYMMETRIC = 1;

extern "C" {
ncclResult_t ncclCommRegister(ncclComm_t comm, void* memory, std::size_t bytes, void** handle);
ncclResult_t ncclCommDeregister(ncclComm_t comm, void* handle);
ncclResult_t ncclMemAlloc(void** memory, std::size_t bytes);
ncclResult_t ncclMemFree(void* memory);
}  // extern "C"
