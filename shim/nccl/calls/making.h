// What the end of a group means for communicators that were made in it.
#pragma once

#include "abi/nccl_abi.h"

namespace thinwire::nccl {

// The group has ended with that result.
void tell_made_in_group(ncclResult_t result);

}  // namespace thinwire::nccl
