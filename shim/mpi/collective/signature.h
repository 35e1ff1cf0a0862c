// Facts about a call's data on which MPI has only pairs of ranks agree.
#pragma once

#include "shim/mpi/collective/call_queue.h"
#include "shim/mpi/collective/part.h"

namespace thinwire::mpi {

// Collective on the queue: `part`, whose signature is open, takes the one of all ranks' blocks, and
// the size of the largest rank.
// False, on all of them, if it is not of one float type: the blocks are then bytes.
bool agree_on_signature(Part& part, CallQueue& queue);

}  // namespace thinwire::mpi
