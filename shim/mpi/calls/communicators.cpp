// The ends of communicators, which receives may outlive.
#include "abi/real.h"
#include "process/shortcut.h"
#include "requests/error_target.h"

using namespace thinwire::mpi;

extern "C" int MPI_Comm_free(MPI_Comm* comm) {
  if (shim_is_active() && comm != nullptr) forget_communicator(*comm);
  return real().Comm_free(comm);
}
THINWIRE_ALSO_PMPI(Comm_free);

extern "C" int MPI_Comm_disconnect(MPI_Comm* comm) {
  if (shim_is_active() && comm != nullptr) forget_communicator(*comm);
  return real().Comm_disconnect(comm);
}
THINWIRE_ALSO_PMPI(Comm_disconnect);
