// The GPU of a communicator.
#pragma once

#include "native/nccl_abi.h"
#include "thinwire/thinwire.h"

namespace thinwire::nccl {

// The device's number as CUDA has it; kHostOnly if streams are none of CUDA's, or NCCL does not
// say.
int device_of(ncclComm_t comm);

// Loads there, once a GPU, what compressed calls will launch. Waits for that alone; to be called
// when a communicator is made, as a call must not wait.
void prepare_device_of(ncclComm_t comm);

// The result of the preparation; TW_OK if nothing had to be loaded.
tw_status prepared(int device);

}  // namespace thinwire::nccl
