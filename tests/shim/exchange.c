// Two floats arrays a pair of ranks exchanges, for tests of settings: prints what arrived.
//
// exchange [BYTES [ROUNDS]]: rank r and its partner (r + size / 2) % size; a line per rank with the
// largest relative difference from what was sent.
#include <math.h>
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>

static float value(int rank, int at) { return (float)(rank + 1) + sinf((float)at * 0.001F); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = (argc > 1 ? atoi(argv[1]) : 1 << 18) / (int)sizeof(float);
  const int rounds = argc > 2 ? atoi(argv[2]) : 3;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int partner = (rank + size / 2) % size;
  float *out = malloc((size_t)count * sizeof(float)), *in = calloc((size_t)count, sizeof(float));
  for (int at = 0; at < count; ++at) out[at] = value(rank, at);
  for (int round = 0; round < rounds; ++round) {
    MPI_Sendrecv(out, count, MPI_FLOAT, partner, round, in, count, MPI_FLOAT, partner, round,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  float worst = 0;
  for (int at = 0; at < count; ++at) {
    const float difference = fabsf(in[at] / value(partner, at) - 1);
    if (!(difference <= worst)) worst = difference;
  }
  printf("rank %d difference %g\n", rank, worst);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
