// The ends of communicators: of what they had agreed, and those that a program finalizes in a group
// with calls of theirs, which come first.
#pragma once

#include <span>

#include "native/nccl_abi.h"
#include "state/communicators.h"

namespace thinwire::nccl {

// Steps that calls which end a communicator share with those that make one of it.

// NCCL is about to stop what is under way on it: whoever waits here waits no longer, and nothing
// more is compressed.
void stop_calls(ncclComm_t comm);

// Ends what a communicator has agreed, which what is under way may still need. `is_gone`: NCCL has
// ended it. `waits`: until the other ranks are told, if they can be: the program may end its
// process right after it, in a way in which nothing of the library runs.
void end_agreed(const Communicator& ended, bool is_gone, bool waits);

// NCCL ends it with this thread's group, which is open.
void ends_with_group(Communicator& ended);
// The outermost group has ended with that result.
void let_go_after_group(ncclResult_t result);

// NCCL's ncclCommFinalize of each, in the group that is open on this thread.
ncclResult_t pass_finalizations(std::span<const ncclComm_t> comms);
// NCCL has taken it.
void note_finalized(ncclComm_t comm);
// Both, in a group of their own, as ranks of one communicator may be among them.
ncclResult_t finalize_all(std::span<const ncclComm_t> comms);

}  // namespace thinwire::nccl
