// State that communicators of the same ranks in the same order share: one private communicator,
// what their codecs cost, the link's rate and the classes of their calls. Programs make a
// communicator at each step, or a thousand of them.
//
// Ranks share alike without asking each other. If no rank has MPI_THREAD_MULTIPLE, all blocking
// collectives of the same ranks come in one order on all of them, whatever communicators they are
// on: else the program would hang if each waits for all. So what one such call has left behind
// is there on all ranks in the next.
#pragma once

#include <vector>

#include "shim/mpi/collective/record.h"
#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

// A communicator of the same processes in the same order, of which the program knows nothing, with
// errors returned.

enum class Duplicate : unsigned char {
  kMade,
  kNoRoom,  // some rank's MPI has no more of them, or the rank may not have one
  kNotNow,  // some rank makes others meanwhile (creations.h)
};

// Collective over `comm`, which must be an intracommunicator, amid a call of the program that need
// not make a communicator. Says the same on all ranks; `made` is set if it is kMade.
Duplicate duplicate_privately(MPI_Comm comm, bool may, MPI_Comm& made);

// The same in a call by which the program asks for one, as it may at no other time than that of
// another such call. MPI_COMM_NULL: there is none left, on every rank.
MPI_Comm duplicate_as_asked(MPI_Comm comm);

// Whether this rank can keep another group's for the run, with communicators that may share it.
// Ranks that share have all said so.
bool can_share();

// Shares the state of a group whose ranks all can: kept until the MPI ends.
void share(Collectives& kept);

// The state that these ranks of the world share, or nullptr.
Collectives* find_shared(const std::vector<int>& world_ranks);
bool anything_is_shared();

// Ends what no communicator uses any more, the rest with its last one.
void stop_sharing();

// MPIs whose communicators are few let the library have so many at once, and no more.
bool may_make_private();

}  // namespace thinwire::mpi
