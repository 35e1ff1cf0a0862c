// What the end of a group, and of their parent, means for communicators that are being made.
#pragma once

#include "abi/nccl_abi.h"

namespace thinwire::nccl {

// NCCL has made what was made of it.
void tell_parts_of(ncclComm_t parent);
// The communicator ends: parts that NCCL is still making of it are none of the program's.
void forget_parts_of(ncclComm_t parent);

// The group has ended with that result.
void tell_made_in_group(ncclResult_t result);

}  // namespace thinwire::nccl
