// Calls of MPI in a module that deep_host opens with RTLD_DEEPBIND: it finds the MPI's before a
// preload library's. Some are called by their addresses in a table. Handles are the host's: Open
// MPI's are objects, of which a program may have copies.
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif

typedef int (*Broadcast)(void*, int, MPI_Datatype, int, MPI_Comm);
static const Broadcast kBroadcasts[] = {MPI_Bcast, PMPI_Bcast};

int receive_in_module(float* into, int count, MPI_Datatype type, MPI_Comm comm);
int broadcast_in_module(float* values, int count, MPI_Datatype type, MPI_Comm comm, int way);

int receive_in_module(float* into, int count, MPI_Datatype type, MPI_Comm comm) {
  return MPI_Recv(into, count, type, 0, 5, comm, MPI_STATUS_IGNORE);
}

int broadcast_in_module(float* values, int count, MPI_Datatype type, MPI_Comm comm, int way) {
  return kBroadcasts[way](values, count, type, 0, comm);
}
