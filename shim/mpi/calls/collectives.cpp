// Barrier, broadcast and the reductions.
#include "calls/collectives.h"
#include "collectives/communicators.h"

using namespace thinwire::mpi;

// The order matters.
// clang-format off
#include "calls/for_int_counts.h"
#include "calls/collectives.inc"
#include "calls/for_large_counts.h"
#include "calls/collectives.inc"
// clang-format on

// Carries no data, and waits for the other ranks, which others of the library's calls may not.
extern "C" int MPI_Barrier(MPI_Comm comm) {
  note_wait();
  make_if_wanted(comm);
  return real().Barrier(comm);
}
THINWIRE_ALSO_PMPI(Barrier);
