/* Communicators of different names, on which messages and collectives come again: what they bring
 * is exact on "tp0", and near on "dp0", where a policy may have it coded with loss. Prints "ok".
 *
 * policy           as said
 * policy by-rank   each rank calls the first one differently
 * policy rename    half way through the first one gets another name */
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 40000, kRounds = 8 };

static float value(int rank, int round, int at) {
  return (float)((at / 4 + round) % 1000) / 8 + (float)rank;
}

static int failures = 0;

static void expect(const float* got, int from, int ranks, int round, double most,
                   const char* what) {
  for (int at = 0; at < kCount; ++at) {
    double right = 0;
    if (from >= 0) {
      right = value(from, round, at);
    } else {
      for (int rank = 0; rank < ranks; ++rank) right += value(rank, round, at);
    }
    if (fabs(got[at] - right) <= most) continue;
    fprintf(stderr, "round %d: %s brings %g for %g\n", round, what, got[at], right);
    ++failures;
    return;
  }
}

static void use(MPI_Comm comm, int round, double most) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  float* const mine = malloc(kCount * sizeof(float));
  float* const other = malloc(kCount * sizeof(float));
  for (int at = 0; at < kCount; ++at) mine[at] = value(rank, round, at);
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  MPI_Sendrecv(mine, kCount, MPI_FLOAT, next, 1, other, kCount, MPI_FLOAT, last, 1, comm,
               MPI_STATUS_IGNORE);
  expect(other, last, ranks, round, most, "a message");
  MPI_Allreduce(mine, other, kCount, MPI_FLOAT, MPI_SUM, comm);
  expect(other, -1, ranks, round, most, "a sum");
  free(mine);
  free(other);
}

/* Never coded, whatever the policy. */
static void use_integers(MPI_Comm comm, int round) {
  int* const values = malloc(kCount * sizeof(int));
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int at = 0; at < kCount; ++at) values[at] = rank == 0 ? at + round : -1;
  MPI_Bcast(values, kCount, MPI_INT, 0, comm);
  for (int at = 0; at < kCount; ++at) failures += values[at] != at + round;
  free(values);
}

int main(int count, char** words) {
  const char* const how = count > 1 ? words[1] : "";
  MPI_Init(&count, &words);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm dp, tp;
  MPI_Comm_dup(MPI_COMM_WORLD, &dp);
  MPI_Comm_dup(MPI_COMM_WORLD, &tp);
  char name[16] = "dp0";
  if (strcmp(how, "by-rank") == 0) snprintf(name, sizeof name, "dp%d", rank);
  MPI_Comm_set_name(dp, name);
  MPI_Comm_set_name(tp, "tp0");
  for (int round = 0; round < kRounds; ++round) {
    if (round == kRounds / 2 && strcmp(how, "rename") == 0) MPI_Comm_set_name(dp, "tp1");
    use(dp, round, 8);
    use(tp, round, 0);
    use_integers(dp, round);
  }
  MPI_Comm_free(&dp);
  MPI_Comm_free(&tp);
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) puts("ok");
  MPI_Finalize();
  return failures != 0;
}
