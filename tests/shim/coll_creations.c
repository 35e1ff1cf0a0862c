// coll_creations MODE: communicators are made while large collectives run on others.
//   threads  four threads make, use and free communicators of their own, all at once
//   amid     one thread waits in a creation for what another rank's thread does after a collective
//   after    a collective waits for what another thread does after a creation
//   idup     a duplicate is begun before a collective on one rank, after it on the other (no
//   threads)
//   idups    several duplicates are begun, one after another (no threads)
//   shrink   as amid, with MPIX_Comm_shrink
//   left     an error handler leaves a creation by longjmp() (no threads)
//   freed    prints what MPI_Request_free says of a duplicate, and of a broadcast, under way
// Prints "all right" on each rank.
#define _GNU_SOURCE
#include <dlfcn.h>
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <pthread.h>
#include <setjmp.h>
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

typedef int (*Make)(MPI_Comm, MPI_Comm*);
static Make make = MPI_Comm_dup;

static void* make_one(void* when) {
  const int last = size - 1;
  if (strcmp(when, "after") == 0) usleep(200000);
  if (strcmp(when, "amid") == 0 && rank == last) hear(last);
  MPI_Comm made;
  make(parents[0], &made);
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

// The MPI that is asked about one before the next is begun may hang.
static void duplicate_several_later(void) {
  MPI_Comm made[6];
  MPI_Request requests[6];
  for (int at = 0; at < 6; ++at) MPI_Comm_idup(MPI_COMM_WORLD, &made[at], &requests[at]);
  MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
  for (int at = 0; at < 6; ++at) MPI_Comm_free(&made[at]);
}

static jmp_buf before;

static void leave(MPI_Comm* where, int* code, ...) {
  (void)where;
  (void)code;
  longjmp(before, 1);
}

// Leaves a creation by longjmp(). Later calls are made from deeper, so that the frames of the call
// that was left are not all written over.
static void leave_a_creation(void) {
  MPI_Errhandler handler;
  MPI_Comm made;
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Comm_set_errhandler(parents[0], handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);  // MPICH 4.0 tells that one
  if (setjmp(before) == 0) {
    MPI_Comm_create(parents[0], MPI_GROUP_NULL, &made);
    mistakes += 1;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
}

static void free_one(MPI_Request* request, const char* what) {
  int error_class = MPI_SUCCESS;
  const int error = MPI_Request_free(request);
  if (error != MPI_SUCCESS) MPI_Error_class(error, &error_class);
  printf("%s: %s, %s\n", what, error_class == MPI_SUCCESS ? "freed" : "refused",
         *request == MPI_REQUEST_NULL ? "gone" : "there");
  if (*request != MPI_REQUEST_NULL) MPI_Wait(request, MPI_STATUS_IGNORE);
}

// The others come later, so that both are under way.
static void free_what_is_under_way(void) {
  static float values[kCount];
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; round < kRounds; ++round) broadcast(MPI_COMM_WORLD, 0, round, "before");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) usleep(300000);
  MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  free_one(&request, "duplicate");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) usleep(300000);
  MPI_Ibcast(values, kCount, MPI_FLOAT, size - 1, MPI_COMM_WORLD, &request);
  free_one(&request, "broadcast");
  MPI_Barrier(MPI_COMM_WORLD);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
}

static int needs_threads(const char* mode) {
  return strncmp(mode, "idup", 4) != 0 && strcmp(mode, "left") != 0;
}

static void run(const char* mode) {
  if (strcmp(mode, "threads") == 0) {
    threads();
  } else if (strcmp(mode, "left") == 0) {
    leave_a_creation();
  } else if (strcmp(mode, "freed") == 0) {
    free_what_is_under_way();
  } else if (strcmp(mode, "idups") == 0) {
    duplicate_several_later();
  } else if (strcmp(mode, "idup") == 0) {
    beside_a_duplicate();
  } else if (strcmp(mode, "shrink") == 0) {
    *(void**)&make = dlsym(RTLD_DEFAULT, "MPIX_Comm_shrink");
    beside_a_creation("amid");
  } else {
    beside_a_creation(mode);
  }
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "threads";
  const int has_threads = needs_threads(mode);
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
  run(mode);
  for (int round = 0; round < kLater; ++round) broadcast(used, 0, round, "later");
  for (int at = 0; at < kThreads; ++at) MPI_Comm_free(&parents[at]);
  MPI_Comm_free(&used);
  MPI_Finalize();
  if (mistakes == 0) printf("all right\n");
  return mistakes != 0;
}
