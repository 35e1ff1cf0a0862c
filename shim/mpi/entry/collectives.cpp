// Barrier, broadcast and the reductions; and collectives with a block for each rank.
#include "shim/mpi/entry/collectives.h"
#include "shim/mpi/collective/communicators.h"

using namespace thinwire::mpi;

// The order matters.
// clang-format off
#include "shim/mpi/entry/for_int_counts.h"
#include "shim/mpi/entry/collectives.inc"
#include "shim/mpi/entry/collectives_of_many.inc"
#include "shim/mpi/entry/for_large_counts.h"
#include "shim/mpi/entry/collectives.inc"
#include "shim/mpi/entry/collectives_of_many.inc"
// clang-format on

// Carries no data, and waits for the other ranks, which others of the library's calls may not.
extern "C" int MPI_Barrier(MPI_Comm comm) {
  note_wait();
  make_if_wanted(comm);
  return real().Barrier(comm);
}
THINWIRE_ALSO_PMPI(Barrier);
