// Collectives with a block for each rank.
#include "shim/mpi/entry/collectives.h"

using namespace thinwire::mpi;

// The order matters.
// clang-format off
#include "shim/mpi/entry/for_int_counts.h"
#include "shim/mpi/entry/collectives_of_many.inc"
#include "shim/mpi/entry/for_large_counts.h"
#include "shim/mpi/entry/collectives_of_many.inc"
// clang-format on
