// The MPI part of a program that has none itself: plugin_host loads it, and the MPI with it, out of
// sight of all other libraries.
#include <mpi.h>
#include <stdio.h>

enum { kCount = 1000 };

static int exchange(int rank, int round) {
  static float out[kCount], in[kCount];
  const int other = 1 - rank;
  MPI_Request request;
  MPI_Status status;
  int count = 0, wrong = 0;
  for (int at = 0; at < kCount; ++at) out[at] = (float)(10000 * (rank + round) + at);
  MPI_Isend(out, kCount, MPI_FLOAT, other, round, MPI_COMM_WORLD, &request);
  MPI_Probe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_FLOAT, &count);
  MPI_Recv(in, kCount, MPI_FLOAT, other, round, MPI_COMM_WORLD, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int at = 0; at < kCount; ++at) wrong += in[at] != (float)(10000 * (other + round) + at);
  return count == kCount && wrong == 0;
}

int run_plugin(int* argc, char*** argv);

int run_plugin(int* argc, char*** argv) {
  int rank = 0, right = 0;
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 3; ++round) right += exchange(rank, round);
  if (right == 3) printf("rank %d: as it should be\n", rank);
  MPI_Finalize();
  return right != 3;
}
