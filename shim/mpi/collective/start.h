// Non-blocking collectives that are compressed as a whole.
#pragma once

#include <optional>

#include "shim/mpi/collective/compress_whole.h"
#include "shim/mpi/state/collective_arguments.h"

namespace thinwire::mpi {

// Starts the call and gives the program a request of the MPI's own that completes with it; nothing,
// where the MPI is to start it. It is compressed as a whole if a blocking one would, by what
// blocking ones before it have made and agreed on, and where every rank may call the MPI from
// several threads, and has one to run it. Buffers must stay until the request is complete, as MPI
// has it.
std::optional<int> start(const CollectiveArguments& arguments, MPI_Request* request);

inline std::optional<int> start_if_wanted(const CollectiveArguments& arguments,
                                          MPI_Request* request) {
  if (is_captured()) [[unlikely]]
    capture_collective(arguments);
  if (!may_compress_whole()) return std::nullopt;
  return start(arguments, request);
}

}  // namespace thinwire::mpi
