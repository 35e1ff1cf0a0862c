// Facts about a call's data on which MPI has only pairs of ranks agree.
#pragma once

#include "choose/link.h"
#include "shim/mpi/collective/call.h"
#include "shim/mpi/collective/part.h"
#include "shim/mpi/collective/record.h"

namespace thinwire::mpi {

// Collective on the queue: `part`, whose signature is open, takes the one of all ranks' blocks, and
// the size of the largest rank.
// False, on all of them, if it is not of one float type: the blocks are then bytes.
bool agree_on_signature(Part& part, CallQueue& queue);

// The link's rate, on which the ranks of a communicator agree.

// Collective. The lowest rate of those that know one, and where the most certain has it from.
choose::LinkRate agree_on_link(const Collectives& kept);

// Collective, if so many calls have been planned that it is due, with the queue the caller's:
// the ranks agree anew on the link's rate, the lowest that one of them has.
void agree_on_link_if_due(Collectives& kept);

bool lies_on_one_node(const Collectives& kept);

// The rate for plans. If compression is forced, a rate that nobody has stated decides nothing.
double rate_for_plans(const Collectives& kept);

// The rate that decides whether messages travel in parts. It is no guess: the network may be one
// that needs no parts.
double rate_for_parts(const Collectives& kept);

}  // namespace thinwire::mpi
