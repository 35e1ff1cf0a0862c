// What a call carries of which MPI has only pairs of ranks agree.
#pragma once

#include "collectives/judge.h"
#include "collectives/lane.h"

namespace thinwire::mpi {

// Collective on the lane: `part`, whose signature is open, takes the one of all ranks' blocks.
// False, on all of them, where it is not of one float type: the blocks are then bytes.
bool agree_on_signature(Part& part, Lane& lane);

}  // namespace thinwire::mpi
