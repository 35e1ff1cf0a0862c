// A datatype as the bytes that it means.
#pragma once

#include <optional>
#include <vector>

#include "shim/mpi/native/mpi_abi.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// One element's bytes as segments in the order of the type map, which is the order in which they
// travel; offsets are from the buffer's address, adjacent segments are merged. Nothing for types of
// constructors that MPI has withdrawn.
std::optional<std::vector<tw_segment>> flatten(MPI_Datatype type);

}  // namespace thinwire::mpi
