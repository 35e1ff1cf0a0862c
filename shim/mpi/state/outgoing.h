// The arguments of a send.
#pragma once

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

// The user's arguments of a send.
struct Outgoing {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int destination;
  MPI_Comm comm;
  bool on_device = false;    // the buffer is GPU memory
  bool may_compress = true;  // false for the modes whose meaning a shorter message would change
};

}  // namespace thinwire::mpi
