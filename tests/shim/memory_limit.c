// memory_limit [TMPDIR]: rank 0 sends rank 1 floats by every kind of receive, when rank 1 has just
// allocated as much memory as it may. Plain MPI; prints "all right" on rank 1.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kCount = 8 << 20, kTag = 1 };

static float value(int at, int round) { return (float)(at / 16 + round); }

// Of this process' private data, a little beyond what it has now.
static void allow_no_more(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*d %*d %*d %*d %*d %ld", &pages) != 1) exit(2);
  fclose(file);
  struct rlimit limit;
  getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (3 << 20);
  if (setrlimit(RLIMIT_DATA, &limit) != 0) exit(2);
}

static void receive(float* data, int round) {
  MPI_Request request;
  MPI_Message message;
  if (round == 0) MPI_Recv(data, kCount, MPI_FLOAT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (round == 1) {
    MPI_Irecv(data, kCount, MPI_FLOAT, 0, kTag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (round == 2) {
    MPI_Mprobe(0, kTag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(data, kCount, MPI_FLOAT, &message, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  int rank = 0, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float* data = malloc(kCount * sizeof(float));
  for (int at = 0; at < kCount; ++at) data[at] = -1;
  if (argc > 1) setenv("TMPDIR", argv[1], 1);
  if (rank == 1) allow_no_more();
  for (int round = 0; round < 3; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      for (int at = 0; at < kCount; ++at) data[at] = value(at, round);
      MPI_Send(data, kCount, MPI_FLOAT, 1, kTag, MPI_COMM_WORLD);
      continue;
    }
    receive(data, round);
    for (int at = 0; at < kCount; ++at) wrong += data[at] != value(at, round);
  }
  if (rank == 1) printf(wrong == 0 ? "all right\n" : "%d values are wrong\n", wrong);
  free(data);
  MPI_Finalize();
  return wrong != 0;
}
