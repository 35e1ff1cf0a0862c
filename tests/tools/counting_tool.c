// A tool of MPI's profiling interface, as mpiP is one: counts some calls, and rank 0 says at the
// end how many its rank has made. With LOOKS_UP it finds what comes next by dlsym(), as tools do
// that are made to be preloaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int calls;

#ifdef LOOKS_UP
#define NEXT(name)                                     \
  __typeof__(&PMPI_##name) next;                       \
  void* const found = dlsym(RTLD_NEXT, "PMPI_" #name); \
  memcpy(&next, &found, sizeof next)
#else
#define NEXT(name) __typeof__(&PMPI_##name) const next = PMPI_##name
#endif

int MPI_Sendrecv(const void* out, int count, MPI_Datatype type, int to, int tag, void* in,
                 int wanted, MPI_Datatype kind, int from, int label, MPI_Comm comm,
                 MPI_Status* status) {
  NEXT(Sendrecv);
  ++calls;
  return next(out, count, type, to, tag, in, wanted, kind, from, label, comm, status);
}

int MPI_Send(const void* out, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  NEXT(Send);
  ++calls;
  return next(out, count, type, to, tag, comm);
}

int MPI_Recv(void* in, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  NEXT(Recv);
  ++calls;
  return next(in, count, type, from, tag, comm, status);
}

int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  NEXT(Allreduce);
  ++calls;
  return next(out, in, count, type, op, comm);
}

int MPI_Finalize(void) {
  NEXT(Finalize);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("the tool has counted %d calls\n", calls);
  return next();
}
