// Collectives with a block for each rank.
#include "calls/collectives.h"

using namespace thinwire::mpi;

// The order matters.
// clang-format off
#include "calls/for_int_counts.h"
#include "calls/collectives_of_many.inc"
#include "calls/for_large_counts.h"
#include "calls/collectives_of_many.inc"
// clang-format on
