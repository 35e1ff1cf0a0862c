// The MPI's own call for each operation.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "collective/operation.h"

namespace thinwire::bench {

// The MPI's own collective of MPI_COMM_WORLD; sums if it reduces.
void run_native(tw_operation operation, tw_dtype dtype, const Group& group, std::int64_t count,
                const void* send, void* receive);

}  // namespace thinwire::bench
