// Which of the program's communicators have the library on all their ranks: what the calls that
// make communicators tell the helper (agree/). Nothing here waits for another rank.
#pragma once

#include <string>
#include <vector>

#include "native/nccl_abi.h"
#include "state/communicators.h"

namespace thinwire::nccl {

// NCCL has made this id here: ranks that get it will find this process.
void stamp(ncclUniqueId& id);

// NCCL has made the communicator, or is about to.
void opened(ncclComm_t comm, const ncclUniqueId& id, int rank, int ranks, bool blocks,
            const std::string& name);
// All ranks of one, in this process, with an id that NCCL keeps to itself.
void opened_all(const ncclComm_t* comms, int ranks, bool blocks);
// The number of a split of this communicator that the program is making.
SplitOff next_split(ncclComm_t parent, int color);
// Likewise of the part that is left when it loses some ranks, which do not take part.
SplitOff next_shrink(ncclComm_t parent, std::vector<int> lost);

// The part that the parent becomes with the ranks that are added to it next; `id` is for these.
SplitOff next_growth(ncclComm_t parent);
void stamp_growth(ncclComm_t parent, ncclUniqueId& id);

// NCCL has refused what this was the number of: the next has it.
void take_back(ncclComm_t parent, const SplitOff& of);

// A split has left this rank out.
void left_out(const SplitOff& of);

// The record of a communicator, its ranks too; begun when it is first seen.
Communicator& counted(ncclComm_t comm);

// NCCL has made it: asks for its ranks if they are not known.
void complete(ncclComm_t comm, Communicator& communicator);
// The result that its compressed calls have come to.
ncclResult_t seen_ready(ncclComm_t comm);

// Makes text fit for JSON: part of it may be another rank's words, or the program's.
std::string printable(std::string text);
// Who has the library, as the report says it.
std::string membership_text(const Communicator& communicator);

}  // namespace thinwire::nccl
