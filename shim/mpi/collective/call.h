// A collective that is compressed as a whole, as tw_comm_run() takes it.
#pragma once

#include <cstdint>

#include "shim/mpi/collective/call_queue.h"
#include "shim/mpi/collective/lists.h"
#include "shim/mpi/collective/part.h"
#include "shim/mpi/state/collective_arguments.h"

namespace thinwire::mpi {

// Whether the operation has a schedule of that algorithm and coding; PLANNED stands for any.
bool has_schedule(std::uint32_t operation, std::uint32_t algorithm, std::uint32_t coding);

// Describes the call with the buffers as the program names them, gaps and all. Borrows `lists`,
// which it fills.
tw_collective describe(const CollectiveArguments& arguments, const Part& part, Lists& lists);

// Runs it, described with the queue's lists; packs and unpacks what has gaps. Returns an MPI
// error code, logged and not raised.
int run_described(const CollectiveArguments& arguments, const Part& part, tw_collective& collective,
                  CallQueue& queue);

}  // namespace thinwire::mpi
