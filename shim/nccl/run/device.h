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

// Whether this process has on that GPU what sums in the order of the ranks need: kernels, a thread,
// and memory, which lies idle then. Found out once a GPU, before a communicator's ranks meet: they
// compare it. `device`: of kHostOnly's kind, or negative and of CUDA, which is not known yet.
bool has_room_for_sums(int device);

// The result of the preparation; TW_OK if nothing had to be loaded.
tw_status prepared(int device);

}  // namespace thinwire::nccl
