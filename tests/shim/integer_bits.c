// integer_bits KIND: rank 0 sends to rank 1, and all ranks broadcast, gather and add up, numbers of
// KIND: doubles that have integers in their bits, as programs do that keep tags or indices among
// their numbers; mixed: the same among real ones; floats: fp32 that fades out. Doubles arrive bit
// for bit, and their sums are those of the integers; floats within 1e-3. Says what did not.
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { kCount = 1 << 15, kMessages = 4 };

static double sent[kCount], got[kCount];
static float small[kCount], small_got[kCount];

static int64_t integer_of(int rank, int at) { return (int64_t)(rank + 1) * 1000 + at; }

static void fill(int rank, int mixed) {
  for (int at = 0; at < kCount; ++at) {
    const int64_t integer = integer_of(rank, at);
    memcpy(&sent[at], &integer, sizeof integer);
    if (mixed && at % 1000 != 7) sent[at] = sin(0.001 * at);
  }
}

// Whether these are not what `rank` fills in.
static int differ(const double* values, int rank, int mixed) {
  fill(rank, mixed);
  return memcmp(values, sent, sizeof sent) != 0;
}

static int doubles(int rank, int ranks, int mixed) {
  static double all[8 * kCount];
  int wrong = 0;
  for (int message = 0; message < kMessages; ++message) {
    fill(0, mixed);
    if (rank == 0) MPI_Send(sent, kCount, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank != 1) continue;
    MPI_Recv(got, kCount, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += differ(got, 0, mixed);
  }
  fill(0, mixed);
  memset(got, 0, sizeof got);
  if (rank == 0) memcpy(got, sent, sizeof got);
  MPI_Bcast(got, kCount, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  wrong += differ(got, 0, mixed) << 4;
  fill(rank, mixed);
  MPI_Allgather(sent, kCount, MPI_DOUBLE, all, kCount, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int peer = 0; peer < ranks; ++peer) wrong |= differ(all + peer * kCount, peer, mixed) << 5;
  fill(rank, mixed);
  MPI_Allreduce(sent, got, kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int at = mixed ? 7 : 0; at < kCount; at += mixed ? 1000 : 1) {
    int64_t integer, sum = 0;
    memcpy(&integer, &got[at], sizeof integer);
    for (int peer = 0; peer < ranks; ++peer) sum += integer_of(peer, at);
    if (integer != sum) wrong |= 64;
  }
  return wrong;
}

static int floats(int rank) {
  int wrong = 0;
  for (int at = 0; at < kCount; ++at) small[at] = (float)exp(-0.01 * at) * (float)sin(0.1 * at);
  for (int message = 0; message < kMessages; ++message) {
    if (rank == 0) MPI_Send(small, kCount, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
    if (rank != 1) continue;
    MPI_Recv(small_got, kCount, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int at = 0; at < kCount; ++at) wrong |= !(fabsf(small[at] - small_got[at]) <= 1e-3f);
  }
  return wrong;
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 0;
  MPI_Init(&argc, &argv);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int is_float = strcmp(argv[1], "floats") == 0;
  const int wrong = is_float ? floats(rank) : doubles(rank, ranks, strcmp(argv[1], "mixed") == 0);
  if (wrong != 0) printf("rank %d: wrong %d\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
