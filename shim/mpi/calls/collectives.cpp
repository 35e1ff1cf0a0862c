// Broadcast and the reductions.
#include "calls/collectives.h"

using namespace thinwire::mpi;

// The order matters.
// clang-format off
#include "calls/for_int_counts.h"
#include "calls/collectives.inc"
#include "calls/for_large_counts.h"
#include "calls/collectives.inc"
// clang-format on
