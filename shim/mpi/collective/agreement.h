// Whether all processes of a communicator run this library with these settings. The answer comes
// from what each has published before MPI_Init, so every one of them that runs the library finds
// the same, without a message.
#pragma once

#include <string>
#include <vector>

#include "shim/mpi/collective/standing.h"
#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

struct Agreement {
  // The standing of all ranks. kNotAsked: it is not known, so neither whether the others compress
  // it.
  Standing standing = Standing::kSame;
  int odd_rank = -1;         // one that is not kSame
  std::string odd_settings;  // kDiffers: its
  int speaker = 0;           // the lowest rank that asks as this one does
  bool several_nodes = false;
};

// Local: one query to the launcher's server a process that nobody on this node asked for before.
// `comm` is an intracommunicator.
Agreement agreement_on(MPI_Comm comm);

// The ranks of `comm` in the job's world; -1: of another job.
std::vector<int> world_ranks_of(MPI_Comm comm);

// MPI has started, perhaps not for the first time: nobody was asked yet.
void forget_standings();

// Asks about all processes of the job, as later that may not be possible.
void learn_standings();

}  // namespace thinwire::mpi
