// deep_host MODULE now|lazy before|after: of two ranks. Rank 1's receives and its part of
// broadcasts are calls of a module that it opens with RTLD_DEEPBIND, before MPI_Init or after it.
#define _GNU_SOURCE
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { kCount = 1 << 17, kRounds = 4 };

typedef int (*Receive)(float*, int, MPI_Datatype, MPI_Comm);
typedef int (*Broadcast)(float*, int, MPI_Datatype, MPI_Comm, int);

static float sent[kCount], got[kCount];
static Receive receive;
static Broadcast broadcast;

static int open_module(const char* file, int lazy) {
  void* const module = dlopen(file, (lazy ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL | RTLD_DEEPBIND);
  if (module == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  void* found = dlsym(module, "receive_in_module");
  memcpy(&receive, &found, sizeof found);
  found = dlsym(module, "broadcast_in_module");
  memcpy(&broadcast, &found, sizeof found);
  return receive == NULL || broadcast == NULL;
}

static int differs(void) {
  const int is_other = memcmp(sent, got, sizeof got) != 0;
  memset(got, 0, sizeof got);
  return is_other;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int lazy = strcmp(argv[2], "lazy") == 0, before = strcmp(argv[3], "before") == 0;
  int rank = 0, failed = before ? open_module(argv[1], lazy) : 0;
  MPI_Init(&argc, &argv);
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!before) failed |= open_module(argv[1], lazy);
  for (int at = 0; at < kCount; ++at) sent[at] = (float)(at / 32);
  for (int round = 0; round < kRounds && !failed; ++round) {
    if (rank == 0) MPI_Send(sent, kCount, MPI_FLOAT, 1, 5, MPI_COMM_WORLD);
    if (rank == 1) failed |= receive(got, kCount, MPI_FLOAT, world) != MPI_SUCCESS || differs();
    if (rank == 0) MPI_Bcast(sent, kCount, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (rank == 1) failed |= broadcast(got, kCount, MPI_FLOAT, world, round % 2) != MPI_SUCCESS;
    if (rank == 1) failed |= differs();
  }
  MPI_Finalize();
  if (!failed) printf("all right\n");
  return failed;
}
