/* Makes calls for a trace and a capture: messages of several sizes and types around a ring, on
 * communicators of several names, and collectives. Prints "ok" if all arrive as they were sent.
 *
 * traced ROUNDS            that many rounds
 * traced ROUNDS SECONDS    then more until so many seconds have passed
 * traced ROUNDS 0 BYTES    no file may become larger than that */
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { kLargest = 1 << 18 };

static int failures = 0;

static float value(int rank, int round, int at) {
  return (float)((at / 16 + 3 * round) % 1000) / 8 + (float)rank;
}

static void expect(const float* got, int count, int from, int round, const char* what) {
  for (int at = 0; at < count; ++at) {
    if (got[at] == value(from, round, at)) continue;
    fprintf(stderr, "round %d: %s brings %g for %g\n", round, what, got[at],
            value(from, round, at));
    ++failures;
    return;
  }
}

static void exchange(MPI_Comm comm, int round, int count, float* mine, float* other) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  for (int at = 0; at < count; ++at) mine[at] = value(rank, round, at);
  MPI_Request requests[2];
  MPI_Irecv(other, count, MPI_FLOAT, last, 1, comm, &requests[0]);
  MPI_Isend(mine, count, MPI_FLOAT, next, 1, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  expect(other, count, last, round, "a message");
}

/* A block of a grid: two of three extents are whole. */
static void exchange_block(MPI_Comm comm, int round, float* mine, float* other) {
  const int whole[3] = {16, 64, 64}, part[3] = {8, 64, 64}, start[3] = {0, 0, 0};
  MPI_Datatype block;
  MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_C, MPI_FLOAT, &block);
  MPI_Type_commit(&block);
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  for (int at = 0; at < 8 * 64 * 64; ++at) mine[at] = value(rank, round, at);
  MPI_Sendrecv(mine, 1, block, next, 2, other, 1, block, last, 2, comm, MPI_STATUS_IGNORE);
  expect(other, 8 * 64 * 64, last, round, "a block");
  MPI_Type_free(&block);
}

static void collect(MPI_Comm comm, int round, float* mine) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int at = 0; at < 40000; ++at) mine[at] = rank == 0 ? value(0, round, at) : -1;
  MPI_Bcast(mine, 40000, MPI_FLOAT, 0, comm);
  expect(mine, 40000, 0, round, "a broadcast");
}

int main(int count, char** words) {
  const int rounds = atoi(words[1]);
  const double seconds = count > 2 ? atof(words[2]) : 0;
  const struct rlimit most = {count > 3 ? (rlim_t)atol(words[3]) : RLIM_INFINITY, RLIM_INFINITY};
  MPI_Init(&count, &words);
  setrlimit(RLIMIT_FSIZE, &most);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm odd;
  MPI_Comm_dup(MPI_COMM_WORLD, &odd);
  MPI_Comm_set_name(odd, "we \"ird\\ <b>name</b>\n");
  float* const mine = malloc(kLargest * sizeof(float));
  float* const other = malloc(kLargest * sizeof(float));
  const double start = MPI_Wtime();
  for (int round = 0, more = 1; more; ++round) {
    exchange(MPI_COMM_WORLD, round, 20000, mine, other);
    exchange(odd, round, kLargest, mine, other);
    exchange(odd, round, 100, mine, other);
    exchange_block(odd, round, mine, other);
    collect(MPI_COMM_WORLD, round, mine);
    more = round + 1 < rounds || MPI_Wtime() - start < seconds;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  free(mine);
  free(other);
  MPI_Comm_free(&odd);
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) puts("ok");
  MPI_Finalize();
  return failures != 0;
}
