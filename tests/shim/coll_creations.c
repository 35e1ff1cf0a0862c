// coll_creations MODE: communicators are made while large collectives run on others.
//   threads  four threads make, use and free communicators of their own, all at once
//   amid     one thread waits in a creation for what another rank's thread does after a collective
//   after    a collective waits for what another thread does after a creation
//   idup     a duplicate is begun before a collective on one rank, after it on the other (no
//   threads)
// Prints "all right" on each rank.
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kThreads = 4, kRounds = 8, kCount = 40000, kLater = 16 };

static int rank, size, mistakes;
static MPI_Comm parents[kThreads], used;

static float value(int thread, int round, int from, int at) {
  return (float)(1 + thread + 8 * round + 100 * from) + 0.001F * (float)(at % 997);
}

static void fill(float* values, int thread, int round) {
  for (int at = 0; at < kCount; ++at) values[at] = value(thread, round, rank, at);
}

static void expect(const float* found, int thread, int round, int from, const char* what) {
  for (int at = 0; at < kCount; ++at) {
    if (found[at] == value(thread, round, from, at)) continue;
    __atomic_add_fetch(&mistakes, 1, __ATOMIC_RELAXED);
    printf("rank %d: %s, thread %d, round %d, from %d, value %d\n", rank, what, thread, round, from,
           at);
    return;
  }
}

static void broadcast(MPI_Comm comm, int thread, int round, const char* what) {
  float* const values = malloc(kCount * sizeof *values);
  fill(values, thread, round);
  MPI_Bcast(values, kCount, MPI_FLOAT, 0, comm);
  expect(values, thread, round, 0, what);
  free(values);
}

static void* work(void* number) {
  const int thread = (int)(size_t)number;
  float* const own = malloc(kCount * sizeof *own);
  float* const all = malloc((size_t)size * kCount * sizeof *all);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm comm, half;
    MPI_Comm_dup(parents[thread], &comm);
    fill(own, thread, round);
    MPI_Allgather(own, kCount, MPI_FLOAT, all, kCount, MPI_FLOAT, comm);
    for (int from = 0; from < size; ++from)
      expect(all + (size_t)from * kCount, thread, round, from, "allgather");
    MPI_Request request;
    const int root = round % size;
    if (rank == root) memcpy(all, own, kCount * sizeof *own);
    MPI_Ibcast(all, kCount, MPI_FLOAT, root, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(all, thread, round, root, "ibcast");
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Sendrecv(own, kCount, MPI_FLOAT, next, thread, all, kCount, MPI_FLOAT, before, thread, comm,
                 MPI_STATUS_IGNORE);
    expect(all, thread, round, before, "sendrecv");
    MPI_Comm_split(comm, rank % 2, rank, &half);
    MPI_Comm_free(&comm);
    if (rank == rank % 2) memcpy(all, own, kCount * sizeof *own);
    MPI_Bcast(all, kCount, MPI_FLOAT, 0, half);
    expect(all, thread, round, rank % 2, "bcast of half");
    MPI_Comm_free(&half);
  }
  free(own);
  free(all);
  return NULL;
}

static void threads(void) {
  pthread_t started[kThreads];
  for (int at = 0; at < kThreads; ++at) pthread_create(&started[at], NULL, work, (void*)(size_t)at);
  for (int at = 0; at < kThreads; ++at) pthread_join(started[at], NULL);
}

// Rank 0 and the last one wait for each other through another communicator.
static void tell(int to) { MPI_Send(NULL, 0, MPI_BYTE, to, 1, parents[1]); }
static void hear(int from) { MPI_Recv(NULL, 0, MPI_BYTE, from, 1, parents[1], MPI_STATUS_IGNORE); }

static void* make_one(void* when) {
  const int last = size - 1;
  if (strcmp(when, "after") == 0) usleep(200000);
  if (strcmp(when, "amid") == 0 && rank == last) hear(last);
  MPI_Comm made;
  MPI_Comm_dup(parents[0], &made);
  MPI_Comm_free(&made);
  if (strcmp(when, "after") == 0 && rank == 0) tell(last);
  return NULL;
}

static void beside_a_creation(const char* when) {
  const int last = size - 1;
  pthread_t maker;
  pthread_create(&maker, NULL, make_one, (void*)when);
  if (strcmp(when, "amid") == 0 && rank == 0) usleep(200000);
  if (strcmp(when, "after") == 0 && rank == last) hear(0);
  broadcast(used, 0, 0, when);
  if (strcmp(when, "amid") == 0 && rank == last) tell(last);
  pthread_join(maker, NULL);
}

static void beside_a_duplicate(void) {
  MPI_Comm made;
  MPI_Request request;
  if (rank != 0) broadcast(used, 0, 0, "idup");
  MPI_Comm_idup(parents[0], &made, &request);
  if (rank == 0) broadcast(used, 0, 0, "idup");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&made);
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "threads";
  const int has_threads = strcmp(mode, "idup") != 0;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (has_threads && provided < MPI_THREAD_MULTIPLE) {
    printf("one thread at a time\n");
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int at = 0; at < kThreads; ++at) MPI_Comm_dup(MPI_COMM_WORLD, &parents[at]);
  MPI_Comm_dup(MPI_COMM_WORLD, &used);
  if (strcmp(mode, "threads") == 0) {
    threads();
  } else if (has_threads) {
    beside_a_creation(mode);
  } else {
    beside_a_duplicate();
  }
  for (int round = 0; round < kLater; ++round) broadcast(used, 0, round, "later");
  for (int at = 0; at < kThreads; ++at) MPI_Comm_free(&parents[at]);
  MPI_Comm_free(&used);
  MPI_Finalize();
  if (mistakes == 0) printf("all right\n");
  return mistakes != 0;
}
