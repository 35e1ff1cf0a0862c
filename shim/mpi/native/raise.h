// Errors of the library, told to the program as the MPI tells its own.
#pragma once

#include "shim/mpi/native/real.h"

namespace thinwire::mpi {

// Raises `error` on the communicator's error handler and returns it. The handler may call MPI:
// callers hold no lock and no reservation.
inline int raise(MPI_Comm comm, int error) {
  real().Comm_call_errhandler(comm, error);
  return error;
}

}  // namespace thinwire::mpi
