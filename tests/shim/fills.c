// fills KIND: rank 0 sends to rank 1, and both broadcast, gather and add up, fields of which a part
// has no value: 1e36 or NaN, as KIND says. Those arrive bit for bit, the others within 0.04, and
// sums are as the MPI's own. Says what did not.
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { kRows = 256, kColumns = 350, kCount = kRows * kColumns, kMessages = 4 };

static float field[kCount], got[kCount], all[2 * kCount], other[kCount];

static int is_missing(int at) {
  const int row = at / kColumns, column = at % kColumns;
  return column > 100 + 20 * sin(0.05 * row) && column < 220;
}

static void fill_in(float* to, int rank, float missing) {
  for (int at = 0; at < kCount; ++at) {
    const float value = (float)(280 + rank + 20 * sin(0.01 * (at % kColumns) + 0.02 * rank));
    to[at] = is_missing(at) ? missing : value;
  }
}

static int differ(const float* values, int rank, float missing) {
  fill_in(other, rank, missing);
  for (int at = 0; at < kCount; ++at) {
    if (is_missing(at) ? memcmp(&values[at], &other[at], sizeof(float)) != 0
                       : !(fabsf(values[at] - other[at]) <= 0.04f)) {
      return 1;
    }
  }
  return 0;
}

static int sums_differ(float missing) {
  for (int at = 0; at < kCount; ++at) all[at] = 0;
  for (int rank = 0; rank < 2; ++rank) {
    fill_in(other, rank, missing);
    for (int at = 0; at < kCount; ++at) all[at] += other[at];
  }
  for (int at = 0; at < kCount; ++at) {
    if (isnan(all[at]) ? !isnan(got[at]) : all[at] != got[at]) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  int rank = 0, wrong = 0;
  MPI_Init(&argc, &argv);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const float missing = strcmp(argv[1], "nan") == 0 ? NAN : 1e36f;
  for (int message = 0; message < kMessages; ++message) {
    fill_in(field, 0, missing);
    if (rank == 0) MPI_Send(field, kCount, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
    if (rank != 1) continue;
    MPI_Recv(got, kCount, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong |= differ(got, 0, missing);
  }
  fill_in(got, rank, missing);
  MPI_Bcast(got, kCount, MPI_FLOAT, 0, MPI_COMM_WORLD);
  wrong |= differ(got, 0, missing) << 1;
  fill_in(field, rank, missing);
  MPI_Allgather(field, kCount, MPI_FLOAT, all, kCount, MPI_FLOAT, MPI_COMM_WORLD);
  for (int peer = 0; peer < 2; ++peer) wrong |= differ(all + peer * kCount, peer, missing) << 2;
  MPI_Allreduce(field, got, kCount, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  wrong |= sums_differ(missing) << 3;
  if (wrong != 0) printf("rank %d: wrong %d\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
