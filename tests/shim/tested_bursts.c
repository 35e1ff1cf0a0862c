// tested_bursts BURSTS: rank 0 sends rank 1 bursts of 16 messages of 1 MB that do not block, and
// calls MPI_Test after each for the MPI's progress alone; then it waits for all. Rank 1 answers
// each burst, and compares every value.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTogether = 16, kCount = 250000 };

static float values[kCount], got[kTogether][kCount];

static void send_burst(void) {
  MPI_Request requests[kTogether];
  for (int at = 0; at < kTogether; ++at) {
    int done = 0;
    MPI_Isend(values, kCount, MPI_FLOAT, 1, at, MPI_COMM_WORLD, &requests[at]);
    MPI_Test(&requests[at], &done, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(kTogether, requests, MPI_STATUSES_IGNORE);
  MPI_Recv(NULL, 0, MPI_INT, 1, kTogether, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int receive_burst(void) {
  MPI_Request requests[kTogether];
  int wrong = 0;
  for (int at = 0; at < kTogether; ++at) {
    MPI_Irecv(got[at], kCount, MPI_FLOAT, 0, at, MPI_COMM_WORLD, &requests[at]);
  }
  MPI_Waitall(kTogether, requests, MPI_STATUSES_IGNORE);
  for (int at = 0; at < kTogether; ++at) {
    for (int each = 0; each < kCount; ++each) wrong += got[at][each] != values[each];
  }
  MPI_Send(NULL, 0, MPI_INT, 0, kTogether, MPI_COMM_WORLD);
  return wrong;
}

int main(int argc, char** argv) {
  int rank = 0, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int at = 0; at < kCount; ++at) values[at] = (float)(at / 16);
  for (int burst = 0; burst < atoi(argv[1]); ++burst) {
    if (rank == 0) send_burst();
    if (rank == 1) wrong += receive_burst();
  }
  if (rank == 1) printf("%d wrong\n", wrong);
  MPI_Finalize();
  return 0;
}
