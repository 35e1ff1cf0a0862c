// A communicator of the same processes in the same order, of which the program knows nothing, with
// errors returned.
#pragma once

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

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

}  // namespace thinwire::mpi
