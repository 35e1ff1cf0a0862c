// NCCL's functions for memory that it knows before calls use it, which the library leaves alone.
#pragma once

#include <cstddef>

#include "native/nccl_abi.h"

extern "C" {

ncclResult_t ncclMemAlloc(void** made, std::size_t bytes);
ncclResult_t ncclMemFree(void* memory);
ncclResult_t ncclCommRegister(ncclComm_t comm, void* buffer, std::size_t bytes, void** handle);
ncclResult_t ncclCommDeregister(ncclComm_t comm, void* handle);

}  // extern "C"
