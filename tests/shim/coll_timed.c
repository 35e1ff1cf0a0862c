// coll_timed VALUES CALLS COUNT [CALL...]: blocking collectives of COUNT floats a block, CALLS
// times each, on the world and on communicators that come and go, with roots that change from call
// to call, no buffers where MPI looks at none, and one rank's own datatypes. VALUES is noise, which
// no codec makes smaller, or smooth. Each rank compares every bit, and prints "all right".
#include <math.h>
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 4 };  // communicators of the same ranks, and after them one of others

static int rank, size, count, calls, is_noise, mistakes;
static float *sent, *received;
static MPI_Datatype pairs;  // as many floats as two, in a type of its own
static MPI_Comm comm;

// Any sign and mantissa, and most exponents.
static float noise_of(uint32_t seed) {
  seed = (seed ^ 61U) ^ (seed >> 16);
  seed *= 9U;
  seed ^= seed >> 4;
  seed *= 0x27d4eb2dU;
  seed ^= seed >> 15;
  const uint32_t bits = seed & ~0x40000000U;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static float value(int from, int to, int call, int at) {
  if (is_noise) return noise_of((uint32_t)(((from * 37 + to) * 101 + call) * 1000003 + at));
  return (float)(from + 1) + (float)(to + call % 7) + sinf((float)at * 0.001F);
}

static void fill(float* block, int from, int to, int call) {
  for (int at = 0; at < count; ++at) block[at] = value(from, to, call, at);
}

static void check(const char* what, const float* block, int from, int to, int call) {
  for (int at = 0; at < count; ++at) {
    const float wanted = value(from, to, call, at);
    if (memcmp(&wanted, &block[at], sizeof wanted) == 0) continue;
    if (mistakes++ < 5) printf("rank %d: %s, call %d: value %d is wrong\n", rank, what, call, at);
    return;
  }
}

static void bcast(int call) {
  const int root = call % size;
  memset(received, 0, (size_t)count * sizeof(float));
  if (rank == root) fill(received, root, 0, call);
  if (rank == 1) {
    MPI_Bcast(received, count / 2, pairs, root, comm);
  } else {
    MPI_Bcast(received, count, MPI_FLOAT, root, comm);
  }
  check("bcast", received, root, 0, call);
}

static void ibcast(int call) {
  const int root = call % size;
  MPI_Request request;
  memset(received, 0, (size_t)count * sizeof(float));
  if (rank == root) fill(received, root, 0, call);
  MPI_Ibcast(received, count, MPI_FLOAT, root, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check("ibcast", received, root, 0, call);
}

static void allgather(int call) {
  fill(call % 2 ? received + rank * count : sent, rank, 0, call);
  MPI_Allgather(call % 2 ? MPI_IN_PLACE : sent, count, MPI_FLOAT, received, count, MPI_FLOAT, comm);
  for (int from = 0; from < size; ++from) {
    check("allgather", received + from * count, from, 0, call);
  }
}

static void gather(int call) {
  const int root = call % size;
  fill(sent, rank, root, call);
  MPI_Gather(sent, count, MPI_FLOAT, rank == root ? received : NULL, rank == root ? count : 0,
             rank == root ? MPI_FLOAT : MPI_DATATYPE_NULL, root, comm);
  for (int from = 0; rank == root && from < size; ++from) {
    check("gather", received + from * count, from, root, call);
  }
}

static void scatter(int call) {
  const int root = call % size;
  for (int to = 0; rank == root && to < size; ++to) fill(sent + to * count, root, to, call);
  MPI_Scatter(rank == root ? sent : NULL, count, MPI_FLOAT, received, count, MPI_FLOAT, root, comm);
  check("scatter", received, root, rank, call);
}

static void alltoall(int call) {
  for (int to = 0; to < size; ++to) fill(sent + to * count, rank, to, call);
  MPI_Alltoall(sent, count, MPI_FLOAT, received, count, MPI_FLOAT, comm);
  for (int from = 0; from < size; ++from) {
    check("alltoall", received + from * count, from, rank, call);
  }
}

// Blocks of lengths that only pairs of ranks know.
static void alltoallv(int call) {
  int given[64], taken[64], places[64];
  for (int other = 0; other < size; ++other) {
    given[other] = count - (rank + other) % 3;
    taken[other] = count - (other + rank) % 3;
    places[other] = other * count;
    fill(sent + other * count, rank, other, call);
    fill(received + other * count, other, rank, call);
    memset(received + other * count, 0, (size_t)taken[other] * sizeof(float));
  }
  MPI_Alltoallv(sent, given, places, MPI_FLOAT, received, taken, places, MPI_FLOAT, comm);
  for (int from = 0; from < size; ++from) {
    check("alltoallv", received + from * count, from, rank, call);
  }
}

// The largest of values of which one rank has all.
static void allreduce(int call) {
  const int root = call % size;
  for (int at = 0; at < count; ++at) {
    sent[at] = rank == root ? fabsf(value(root, 0, call, at)) : -1;
  }
  MPI_Allreduce(sent, received, count, MPI_FLOAT, MPI_MAX, comm);
  for (int at = 0; at < count; ++at) {
    if (received[at] != fabsf(value(root, 0, call, at)) && mistakes++ < 5) {
      printf("rank %d: allreduce, call %d: value %d is wrong\n", rank, call, at);
    }
  }
}

static const struct {
  const char* name;
  void (*run)(int);
} kCalls[] = {{"bcast", bcast},         {"ibcast", ibcast},      {"allgather", allgather},
              {"gather", gather},       {"scatter", scatter},    {"alltoall", alltoall},
              {"alltoallv", alltoallv}, {"allreduce", allreduce}};

static int is_named(const char* name, int argc, char** argv) {
  for (int at = 4; at < argc; ++at) {
    if (strcmp(argv[at], name) == 0) return 1;
  }
  return argc <= 4;
}

static void run_on(MPI_Comm on, int times, int argc, char** argv) {
  comm = on;
  MPI_Comm_rank(on, &rank);
  MPI_Comm_size(on, &size);
  for (int call = 0; call < times; ++call) {
    for (size_t at = 0; at < sizeof kCalls / sizeof *kCalls; ++at) {
      if (is_named(kCalls[at].name, argc, argv)) kCalls[at].run(call);
    }
  }
}

int main(int argc, char** argv) {
  int provided = 0, own = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  is_noise = strcmp(argv[1], "noise") == 0;
  calls = atoi(argv[2]);
  count = atoi(argv[3]);
  MPI_Type_contiguous(2, MPI_FLOAT, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  sent = calloc((size_t)size * (size_t)count, sizeof(float));
  received = calloc((size_t)size * (size_t)count, sizeof(float));
  run_on(MPI_COMM_WORLD, calls, argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  for (int round = 0; round <= kRounds; ++round) {
    MPI_Comm other;
    MPI_Comm_split(MPI_COMM_WORLD, own == 0 && round == kRounds, -own, &other);
    run_on(other, calls / 8, argc, argv);
    MPI_Comm_free(&other);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (mistakes == 0) printf("all right\n");
  MPI_Type_free(&pairs);
  free(sent);
  free(received);
  MPI_Finalize();
  return mistakes != 0;
}
