// sums: how long MPI_Allreduce of floats takes on all ranks, for sizes from 8 bytes to 16 MiB. Rank
// 0 prints a line a size: bytes and the median in microseconds. Ends with 1 if a sum is wrong.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int by_size(const void* one, const void* other) {
  const double left = *(const double*)one, right = *(const double*)other;
  return left < right ? -1 : left > right;
}

int main(int argc, char** argv) {
  enum { kMost = 4 << 20, kTimes = 400 };
  static double took[kTimes];
  int rank, size, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  float* in = malloc(sizeof(float) * kMost);
  float* out = malloc(sizeof(float) * kMost);
  for (int at = 0; at < kMost; ++at) in[at] = (float)((at / 64 + rank) % 1000);
  for (int count = 2; count <= kMost; count *= 16) {
    const int times = count <= 8192 ? kTimes : count <= 1 << 18 ? 60 : 12;
    for (int turn = -2; turn < times; ++turn) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      double own = MPI_Wtime() - start, slowest;
      MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (turn >= 0) took[turn] = slowest;
    }
    for (int at = 0; at < count; ++at) {
      float sum = 0;
      for (int from = 0; from < size; ++from) sum += (float)((at / 64 + from) % 1000);
      wrong += out[at] != sum;
    }
    qsort(took, (size_t)times, sizeof(double), by_size);
    if (rank == 0) printf("%zu %.1f\n", sizeof(float) * (size_t)count, 1e6 * took[times / 2]);
  }
  MPI_Finalize();
  return wrong != 0;
}
