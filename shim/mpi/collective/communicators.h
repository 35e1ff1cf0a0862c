// Facts and means of compressed collectives that all ranks of a communicator learn at once.
#pragma once

#include "shim/mpi/collective/live.h"
#include "shim/mpi/collective/record.h"
#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

// Collective over `comm`, an intracommunicator of several processes, if it was not asked for
// before. Waits for the non-blocking collectives on it, and learns the costs that they want.
Collectives& collectives_of(MPI_Comm comm);

// A non-blocking collective could have been compressed, and must not wait until this is made: the
// next call that may wait for the other ranks makes it. Local; to be called on all ranks alike.
void want_collectives_of(MPI_Comm comm);

// Collective: learns what is wanted, after all that was started, and the link's rate if that is
// due.
void learn_costs(Collectives& kept);

// To be called in each collective on `comm` that may wait for the other ranks.
void make_wanted_collectives(MPI_Comm comm);
inline void make_if_wanted(MPI_Comm comm) {
  if (wanted_collectives.load(std::memory_order_relaxed) != 0) make_wanted_collectives(comm);
}

}  // namespace thinwire::mpi
