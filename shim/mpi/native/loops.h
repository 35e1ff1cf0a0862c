// Datatypes of regular patterns as loops, without a look at each of their blocks: programs make a
// new vector or subarray for each message.
#pragma once

#include <optional>
#include <vector>

#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/type_map.h"

namespace thinwire::mpi {

// One element's bytes: a block, repeated by levels, outermost first.
struct Loops {
  tw_segment block{};
  std::vector<Level> levels;
  std::int64_t extent = 0;
};

// Finds the loops of named types, vectors, subarrays and what is made contiguous, duplicated or
// resized of these. Nothing for others, and if there are more levels than a TypeMap has.
std::optional<Loops> loops_of(MPI_Datatype type);

}  // namespace thinwire::mpi
