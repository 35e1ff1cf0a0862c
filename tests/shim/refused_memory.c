// refused_memory: large messages, probed messages and broadcasts while each rank's process is given
// no memory at all. Plain MPI; each rank prints how many values were wrong and how many calls
// failed.
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kCount = 1 << 15, kRounds = 60 };

static float sent[kCount], got[kCount];
static void** last;
static int wrong, failed;

// The address space ends here, and what the heap has left is taken.
static void take_all_memory(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld", &pages) != 1) exit(2);
  fclose(file);
  const struct rlimit here = {(rlim_t)(pages * sysconf(_SC_PAGESIZE)), RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &here);
  for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 2) {
    for (void** block; (block = malloc(bytes)) != NULL; last = block) *block = last;
  }
}

static void give_it_back(void) {
  const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &none);
  while (last != NULL) {
    void** const block = last;
    last = *block;
    free(block);
  }
}

static void note(int error) {
  if (error != MPI_SUCCESS) {
    ++failed;
  } else if (memcmp(sent, got, sizeof sent) != 0) {
    ++wrong;
  }
}

static void exchange(int peer) {
  MPI_Request both[2];
  memset(got, 0, sizeof got);
  MPI_Irecv(got, kCount, MPI_FLOAT, peer, 2, MPI_COMM_WORLD, &both[0]);
  MPI_Isend(sent, kCount, MPI_FLOAT, peer, 2, MPI_COMM_WORLD, &both[1]);
  note(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
}

static void exchange_probed(int peer) {
  MPI_Request request;
  MPI_Message message;
  MPI_Status status;
  memset(got, 0, sizeof got);
  MPI_Isend(sent, kCount, MPI_FLOAT, peer, 6, MPI_COMM_WORLD, &request);
  MPI_Mprobe(peer, 6, MPI_COMM_WORLD, &message, &status);
  note(MPI_Mrecv(got, kCount, MPI_FLOAT, &message, &status));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void broadcast(int rank) {
  memset(got, 0, sizeof got);
  if (rank == 0) memcpy(got, sent, sizeof got);
  note(MPI_Bcast(got, kCount, MPI_FLOAT, 0, MPI_COMM_WORLD));
}

// WHAT: of "e" exchanges, "p" probed ones, "b" broadcasts; "w" makes one of each before. "1": rank
// 1 alone is refused memory.
int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "e";
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int at = 0; at < kCount; ++at) sent[at] = (float)(at / 16);
  for (int round = -3; round < kRounds; ++round) {
    if (round < 0 && strchr(what, 'w') == NULL) continue;
    if (round == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (strchr(what, '1') == NULL || rank == 1) take_all_memory();
    }
    if (strchr(what, 'e') != NULL) exchange(rank ^ 1);
    if (strchr(what, 'p') != NULL) exchange_probed(rank ^ 1);
    if (strchr(what, 'b') != NULL) broadcast(rank);
  }
  give_it_back();
  printf("rank %d: %d wrong, %d failed\n", rank, wrong, failed);
  MPI_Finalize();
  return 0;
}
