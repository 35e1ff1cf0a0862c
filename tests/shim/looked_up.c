// looked_up LIBRARY: of two ranks. Rank 1's receives and its part of broadcasts are calls that it
// looks up in the MPI's own library, as ctypes and Julia do; rank 0's are linked.
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 1 << 17, kRounds = 4 };

typedef int (*Receive)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
typedef int (*Broadcast)(void*, int, MPI_Datatype, int, MPI_Comm);

static float sent[kCount], got[kCount];

static int find(void* library, const char* name, void* call) {
  void* const found = dlsym(library, name);
  memcpy(call, &found, sizeof found);
  return found == NULL;
}

static int differs(void) {
  const int is_other = memcmp(sent, got, sizeof got) != 0;
  memset(got, 0, sizeof got);
  return is_other;
}

int main(int argc, char** argv) {
  Receive receive;
  Broadcast broadcast, inner;
  void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int rank = 0, failed = library == NULL;
  if (failed) return 2;
  failed |= find(library, "MPI_Recv", &receive) | find(library, "MPI_Bcast", &broadcast) |
            find(library, "PMPI_Bcast", &inner);
  failed |= dlsym(library, "MPI_No_such_call") != NULL || dlerror() == NULL;
  failed |= dlsym(library, "MPI_Comm_rank") == NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int at = 0; at < kCount; ++at) sent[at] = (float)(at / 32);
  for (int round = 0; round < kRounds && !failed; ++round) {
    if (rank == 0) MPI_Send(sent, kCount, MPI_FLOAT, 1, 5, MPI_COMM_WORLD);
    if (rank == 1) receive(got, kCount, MPI_FLOAT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) failed |= differs();
    if (rank == 0) MPI_Bcast(sent, kCount, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (rank == 1) (round % 2 ? broadcast : inner)(got, kCount, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (rank == 1) failed |= differs();
  }
  MPI_Finalize();
  if (!failed) printf("all right\n");
  return failed;
}
