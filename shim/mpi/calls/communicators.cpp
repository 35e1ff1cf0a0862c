// The ends of communicators, which receives may outlive.
#include "collectives/communicators.h"
#include "abi/real.h"
#include "process/shortcut.h"
#include "requests/error_target.h"

using namespace thinwire::mpi;

namespace {

void end(MPI_Comm comm) {
  release_collectives_of(comm);
  forget_communicator(comm);
}

}  // namespace

extern "C" int MPI_Comm_free(MPI_Comm* comm) {
  if (shim_is_active() && comm != nullptr) end(*comm);
  return real().Comm_free(comm);
}
THINWIRE_ALSO_PMPI(Comm_free);

extern "C" int MPI_Comm_disconnect(MPI_Comm* comm) {
  if (shim_is_active() && comm != nullptr) end(*comm);
  return real().Comm_disconnect(comm);
}
THINWIRE_ALSO_PMPI(Comm_disconnect);
