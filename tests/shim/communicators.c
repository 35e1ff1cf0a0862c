// communicators step COUNT STEPS: each step makes a communicator, broadcasts COUNT floats of noise
// on it and frees it. Rank 0 prints how many milliseconds the steps of the second half took, on
// average.
// communicators many MOST: makes so many, each of which broadcasts once, as long as the MPI has
// some. Rank 0 prints how many there were.
// communicators mixed ROUNDS: several of the same ranks and of others come and go, in several
// orders of the ranks; each value of broadcasts, gathers and sums on them is compared.
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 1 << 15, kAlive = 5 };

static int rank, size, mistakes;
static float *sent, *received;

static void fill_with_noise(int count) {
  unsigned seed = 1;
  for (int at = 0; at < count; ++at) {
    seed = seed * 1664525U + 1013904223U;
    const unsigned bits = (seed >> 2) | 0x20000000U;
    memcpy(&sent[at], &bits, sizeof bits);
  }
}

static void time_steps(int count, int steps) {
  double total = 0;
  sent = malloc((size_t)count * sizeof *sent);
  fill_with_noise(count);
  for (int step = 0; step < steps; ++step) {
    MPI_Comm own;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Bcast(sent, count, MPI_FLOAT, 0, own);
    MPI_Comm_free(&own);
    MPI_Barrier(MPI_COMM_WORLD);
    if (step >= steps / 2) total += MPI_Wtime() - start;
  }
  if (rank == 0) printf("step %.4f\n", 1e3 * total / (steps - steps / 2));
}

static void make_many(int most) {
  MPI_Comm* const all = malloc((size_t)most * sizeof *all);
  int made = 0;
  sent = calloc(kCount, sizeof *sent);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (; made < most; ++made) {
    if (MPI_Comm_dup(MPI_COMM_WORLD, &all[made]) != MPI_SUCCESS) break;
    MPI_Bcast(sent, kCount, MPI_FLOAT, 0, all[made]);
  }
  if (rank == 0) printf("made %d\n", made);
  while (made > 0) MPI_Comm_free(&all[--made]);
  free(all);
}

static float value(int from, int round, int at) {
  return (float)(1 + from * 3 + round % 50) + (float)(at % 1000) * 0.125F;
}

static void expect(const float* values, int from, int round, float factor) {
  for (int at = 0; at < kCount; ++at) {
    if (values[at] == factor * value(from, round, at)) continue;
    if (mistakes++ < 5) printf("rank %d, round %d: value %d is wrong\n", rank, round, at);
    return;
  }
}

static void use(MPI_Comm comm, int round) {
  int own = 0, ranks = 0;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &ranks);
  const int root = round % ranks;
  for (int at = 0; at < kCount; ++at) sent[at] = value(own, round, at);
  if (own == root) memcpy(received, sent, kCount * sizeof *sent);
  MPI_Bcast(received, kCount, MPI_FLOAT, root, comm);
  expect(received, root, round, 1);
  MPI_Gather(sent, kCount, MPI_FLOAT, received, kCount, MPI_FLOAT, root, comm);
  for (int from = 0; own == root && from < ranks; ++from) {
    expect(received + (size_t)from * kCount, from, round, 1);
  }
  for (int at = 0; at < kCount; ++at) sent[at] = value(0, round, at);
  MPI_Allreduce(sent, received, kCount, MPI_FLOAT, MPI_SUM, comm);
  expect(received, 0, round, (float)ranks);
}

static void make_of_each_kind(int round, MPI_Comm* made) {
  const int kind = round % 5;
  if (kind == 0) MPI_Comm_dup(MPI_COMM_WORLD, made);
  if (kind == 1) MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, made);
  if (kind == 2) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, made);
  if (kind == 3) MPI_Comm_split(MPI_COMM_WORLD, rank == 0, (rank + round) % size, made);
  if (kind == 4) MPI_Comm_split(MPI_COMM_WORLD, 0, (rank + round) % size, made);
}

static void mix(int rounds) {
  MPI_Comm alive[kAlive];
  for (int at = 0; at < kAlive; ++at) alive[at] = MPI_COMM_NULL;
  sent = malloc(kCount * sizeof *sent);
  received = malloc((size_t)size * kCount * sizeof *received);
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm* const place = &alive[(round * 3 + round / 7) % kAlive];
    if (*place != MPI_COMM_NULL) MPI_Comm_free(place);
    make_of_each_kind(round, place);
    for (int at = 0; at < kAlive; ++at) {
      if (alive[at] != MPI_COMM_NULL) use(alive[at], round);
    }
  }
  for (int at = 0; at < kAlive; ++at) {
    if (alive[at] != MPI_COMM_NULL) MPI_Comm_free(&alive[at]);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "step") == 0) time_steps(atoi(argv[2]), atoi(argv[3]));
  if (strcmp(argv[1], "many") == 0) make_many(atoi(argv[2]));
  if (strcmp(argv[1], "mixed") == 0) mix(atoi(argv[2]));
  if (mistakes == 0) printf("all right\n");
  free(sent), free(received);
  MPI_Finalize();
  return mistakes != 0;
}
