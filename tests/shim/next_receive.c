// A library that deep_ways is linked to: its receive is what comes next by that name.
#define _GNU_SOURCE
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <dlfcn.h>
#include <string.h>

int next_receive(float* into, int count, MPI_Datatype type, MPI_Comm comm);

int next_receive(float* into, int count, MPI_Datatype type, MPI_Comm comm) {
  int (*receive)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
  void* const found = dlsym(RTLD_NEXT, "MPI_Recv");
  memcpy(&receive, &found, sizeof found);
  return receive(into, count, type, 0, 5, comm, MPI_STATUS_IGNORE);
}
