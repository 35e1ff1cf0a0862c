// Persistent collectives that are compressed as a whole.
#pragma once

#include <optional>

#include "shim/mpi/collective/compress_whole.h"
#include "shim/mpi/state/collective_arguments.h"

namespace thinwire::mpi {

// Makes a persistent request (message/persistent.h) that runs the call, compressed, whenever it is
// started; nothing, if the MPI is to make one. It is compressed as a whole if a blocking call
// would and every rank may call the MPI from several threads. Waits for the other ranks, as MPI
// lets the initialisation do, and makes what a communicator needs. Buffers must stay until the
// request is freed, as MPI has it.
std::optional<int> persist(const CollectiveArguments& arguments, MPI_Request* request);

inline std::optional<int> persist_if_wanted(const CollectiveArguments& arguments,
                                            MPI_Request* request) {
  if (!may_compress_whole()) return std::nullopt;
  return persist(arguments, request);
}

// Waits for all that were started; before the MPI ends.
void end_persistent_collectives();

}  // namespace thinwire::mpi
