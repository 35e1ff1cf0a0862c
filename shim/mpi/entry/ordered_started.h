// Non-blocking and persistent reductions in the order of the ranks (collective/ordered.h): the MPI
// gathers what the ranks have while the program goes on, and the completion adds it up.
#pragma once

#include <optional>

#include "shim/mpi/collective/ordered.h"
#include "shim/mpi/entry/staged.h"

namespace thinwire::mpi {

// Starts the call in the place of the MPI's own; nothing if it is to be that. `staged`, if there is
// one, stands in for the call's buffers already. Takes memory for what this rank adds up: all
// ranks' values, or in Reduce_scatter its block of each. Returns the outcome, raised.
std::optional<int> start_in_order(Sum sum, const CollectiveArguments& arguments,
                                  StagedCollectivePointer& staged, MPI_Request* request);

// The same for a persistent request. Nothing, too, under MPIs whose persistent gathers lose values.
std::optional<int> persist_in_order(Sum sum, const CollectiveArguments& arguments,
                                    StagedCollectivePointer& staged, MPI_Info info,
                                    MPI_Request* request);

}  // namespace thinwire::mpi
