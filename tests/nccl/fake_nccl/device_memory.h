// Memory of a GPU that is none: so much as FAKE_GPU_BYTES says, of which each pair of ranks takes
// FAKE_NCCL_PEER_BYTES when it first exchanges messages, as NCCL does when it connects two ranks.
// One a process, whose ranks are processes then.
#pragma once

#include <cstddef>

struct ncclComm;

namespace fake_nccl {

// A message between this rank and another is enqueued. False: there is no memory left for it.
bool connect_with(const ncclComm* comm, int peer);

}  // namespace fake_nccl
