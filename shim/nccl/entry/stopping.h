// Steps that calls which end a communicator share with those that make one of it.
#pragma once

#include "native/nccl_abi.h"

namespace thinwire::nccl {

// NCCL is about to stop what is under way on it: whoever waits here waits no longer, and nothing
// more is compressed.
void stop_calls(ncclComm_t comm);

}  // namespace thinwire::nccl
