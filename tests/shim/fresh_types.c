// fresh_types BLOCKS ROUNDS: two ranks send each other arrays of single floats with gaps, with a
// new datatype for each message: vectors, subarrays, indexed types, and one that is used twice.
// Every value is compared. Rank 1 prints how many milliseconds of its processor a message took, the
// least.
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kGap = 4 };

static int rank, blocks, mistakes;
static float* memory;
static int* places;

static MPI_Datatype vector(void) {
  MPI_Datatype made;
  MPI_Type_vector(blocks, 1, kGap, MPI_FLOAT, &made);
  return made;
}

static MPI_Datatype subarray(void) {
  MPI_Datatype made;
  const int sizes[3] = {blocks / 64, 64, kGap}, counts[3] = {blocks / 64, 64, 1};
  const int starts[3] = {0, 0, 0};
  MPI_Type_create_subarray(3, sizes, counts, starts, MPI_ORDER_C, MPI_FLOAT, &made);
  return made;
}

// A type with positions that no loop has.
static MPI_Datatype indexed(void) {
  MPI_Datatype made;
  for (int at = 0; at < blocks; ++at) places[at] = kGap * at + (at * 7 % 5 == 0);
  MPI_Type_create_indexed_block(blocks, 1, places, MPI_FLOAT, &made);
  return made;
}

static const struct {
  const char* name;
  MPI_Datatype (*make)(void);
  int uses;
} kKinds[] = {{"vector", vector, 1},
              {"subarray", subarray, 1},
              {"indexed", indexed, 1},
              {"indexed-twice", indexed, 2}};

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int place_of(int kind, int at) {
  return kGap * at + (strncmp(kKinds[kind].name, "indexed", 7) == 0 && at * 7 % 5 == 0);
}

static void check(int kind, float offset) {
  for (int at = 0; at < blocks; ++at) {
    const int place = place_of(kind, at);
    if (memory[place] == offset + (float)(place % 1000)) continue;
    if (mistakes++ < 5) printf("rank %d, %s: block %d is wrong\n", rank, kKinds[kind].name, at);
    return;
  }
}

static void fill(float offset) {
  for (int at = 0; at < kGap * blocks; ++at) memory[at] = offset + (float)(at % 1000);
}

static double once(int kind, int round) {
  const float mine = (float)(1 + rank + 10 * round), other = (float)(2 - rank + 10 * round);
  double took = 0;
  for (int use = 0; use < kKinds[kind].uses; ++use) {
    fill(rank == 0 ? mine : -1);
    MPI_Barrier(MPI_COMM_WORLD);
    static MPI_Datatype type;
    const double start = processor_seconds();
    if (use == 0) {
      type = kKinds[kind].make();
      MPI_Type_commit(&type);
    }
    if (rank == 0) MPI_Send(memory, 1, type, 1, 1, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(memory, 1, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    took = processor_seconds() - start;
    if (rank == 1) check(kind, other);
    if (use + 1 == kKinds[kind].uses) MPI_Type_free(&type);
  }
  return took;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  blocks = atoi(argv[1]);
  memory = malloc((size_t)blocks * kGap * sizeof *memory);
  places = malloc((size_t)blocks * sizeof *places);
  for (int kind = 0; kind < (int)(sizeof kKinds / sizeof *kKinds); ++kind) {
    double least = 1e9;
    for (int round = 0; round < atoi(argv[2]); ++round) {
      const double took = once(kind, round);
      if (took < least) least = took;
    }
    if (rank == 1) printf("%s %.4f\n", kKinds[kind].name, 1e3 * least);
  }
  if (mistakes == 0) printf("all right\n");
  free(memory), free(places);
  MPI_Finalize();
  return mistakes != 0;
}
