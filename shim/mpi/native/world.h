// The processes of the job, through MPI_Init or, in a program of sessions alone, through a session
// of the shim's own.
#pragma once

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

struct World {
  int rank = 0;
  int size = 1;
  MPI_Group group{};        // of all of them
  bool by_session = false;  // there is no MPI_COMM_WORLD
  MPI_Session session{};    // by_session: the shim's own
};

// After the MPI started. False: the MPI does not say who is there.
bool enter_world(World& world, bool by_session);
void leave_world(World world);

// A communicator of this process alone, which nobody else knows of; errors on it are returned.
MPI_Comm make_private_communicator(const World& world);

}  // namespace thinwire::mpi
