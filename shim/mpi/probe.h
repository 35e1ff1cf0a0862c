// Probing: a probe of the MPI shows wire sizes. Messages whose length is suspicious are pulled out
// of the MPI into their communicator's stash, and every later receive looks there first.
#pragma once

#include <memory>

#include "mpi_abi.h"
#include "peers.h"

namespace thinwire::mpi {

// What a probe found: nothing, a message that is still in the MPI, or one in the stash.
struct Found {
  bool any = false;
  bool stashed = false;
  MPI_Status status{};      // with the raw size
  int error = MPI_SUCCESS;  // the MPI's own; then nothing else counts
};

// One non-blocking look for the first message that matches, stash first.
Found look(MPI_Comm comm, int source, int tag);

// The first stashed message that matches, removed from its stash; its receive may still run.
std::unique_ptr<Stashed> take_stashed(MPI_Comm comm, int source, int tag);

}  // namespace thinwire::mpi
