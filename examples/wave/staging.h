// Messages from GPU memory by way of host memory, for an MPI that takes host memory only.
#pragma once

#include <mpi.h>

#include <memory>

#include "exchange.h"
#include "slab.h"

namespace wave {

// Copies through pinned buffers made beforehand, the way it is written by hand. The pointers given
// to it are to GPU memory. Errors of CUDA end in std::runtime_error.
std::unique_ptr<Exchange> make_staged_exchange(MPI_Comm comm, const Slab& slab);

}  // namespace wave
