// What a call carries of which MPI has only pairs of ranks agree.
#pragma once

#include "collectives/judge.h"
#include "collectives/lane.h"

namespace thinwire::mpi {

// Whether judge_call() leaves the call's signature open.
inline bool has_open_signature(const Part& part) { return enters_by_name_alone(part.form->call); }

// Collective on the lane: `part` takes the signature of all ranks' blocks. False, on all of them,
// where it is not of one float type: the blocks are then bytes.
bool agree_on_signature(Part& part, Lane& lane);

}  // namespace thinwire::mpi
