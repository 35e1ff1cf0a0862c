// coll_refused before|after [persistent]: broadcasts, non-blocking and persistent, while rank 1
// gets no threads (refuse_threads.c), before or after the first blocking one: completed by each
// call that completes requests, and once after a message that the other rank sends when it has its
// part. Then rank 1 gets threads again.
//
// coll_refused many [persistent]: no thread is refused. A blocking broadcast on each of 12
// communicators, then on each a non-blocking one, a barrier and a non-blocking one; both broadcasts
// on another; 70 persistent ones.
//
// Prints "all right" on each of two ranks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "coll/memory.h"

enum { kCount = 1 << 15, kWays = 6, kStarts = 3, kComms = 12, kMany = 70 };

static int rank, mistakes;
static float data[2][kCount];

static void fill(float* values, int round) {
  for (int at = 0; at < kCount; ++at) values[at] = rank == 0 ? (float)(at / 16 + round) : -1;
}

static void check(const float* values, int round) {
  for (int at = 0; at < kCount; ++at) {
    if (values[at] == (float)(at / 16 + round) || ++mistakes > 5) continue;
    printf("rank %d: round %d at %d: %g\n", rank, round, at, (double)values[at]);
  }
}

static void set_threads_refused(int whether) {
  void (*refuse)(int) = NULL;
  *(void**)&refuse = dlsym(RTLD_DEFAULT, "refuse_threads");
  if (rank == 1 && refuse != NULL) refuse(whether);
}

static void complete(MPI_Request* request, int way) {
  int done = 0, index = 0, other = 0;
  switch (way) {
    case 0:
      while (!done) MPI_Test(request, &done, MPI_STATUS_IGNORE);
      break;
    case 1:
      MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
      break;
    case 2:
      MPI_Waitsome(1, request, &done, &index, MPI_STATUSES_IGNORE);
      break;
    case 3:
      while (!done) MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
      MPI_Wait(request, MPI_STATUS_IGNORE);
      break;
    case 4:  // the root waits for the other's part
      if (rank == 1) MPI_Recv(&other, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(request, MPI_STATUS_IGNORE);
      if (rank == 0) MPI_Send(&other, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
      break;
    default:
      MPI_Wait(request, MPI_STATUS_IGNORE);
  }
}

static void cast_in_each_way(void) {
  for (int way = 0; way < kWays; ++way) {
    MPI_Request request;
    fill(data[0], way);
    MPI_Ibcast(data[0], kCount, MPI_FLOAT, 0, MPI_COMM_WORLD, &request);
    complete(&request, way);
    check(data[0], way);
  }
}

// Two at once, which the ranks start in different orders.
#ifdef SHIM_TEST_PERSISTENT
static void cast_persistently(void) {
  MPI_Request requests[2];
  for (int at = 0; at < 2; ++at) {
    MPI_Bcast_init(data[at], kCount, MPI_FLOAT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[at]);
  }
  for (int round = 0; round < kStarts; ++round) {
    for (int at = 0; at < 2; ++at) fill(data[at], round + at);
    MPI_Start(&requests[rank]);
    MPI_Start(&requests[1 - rank]);
    for (int at = 0, done = 0; at < 2; ++at, done = 0) {
      while (!done) MPI_Test(&requests[at], &done, MPI_STATUS_IGNORE);
    }
    for (int at = 0; at < 2; ++at) check(data[at], round + at);
  }
  for (int at = 0; at < 2; ++at) MPI_Request_free(&requests[at]);
}

static void cast_with_many(void) {
  MPI_Request requests[kMany];
  for (int at = 0; at < kMany; ++at) {
    MPI_Bcast_init(data[1], kCount, MPI_FLOAT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[at]);
  }
  for (int at = 0; at < kMany; ++at) {
    fill(data[1], at);
    MPI_Start(&requests[at]);
    MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
    check(data[1], at);
  }
  for (int at = 0; at < kMany; ++at) MPI_Request_free(&requests[at]);
}
#else
static void cast_persistently(void) {}
static void cast_with_many(void) {}
#endif

static void cast_beside(MPI_Comm comm, int round) {
  MPI_Request request;
  fill(data[0], round);
  MPI_Ibcast(data[0], kCount, MPI_FLOAT, 0, comm, &request);
  complete(&request, 0);
  check(data[0], round);
}

static void cast_on_many(void) {
  MPI_Comm comms[kComms];
  for (int at = 0; at < kComms; ++at) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[at]);
    fill(data[0], at);
    MPI_Bcast(data[0], kCount, MPI_FLOAT, 0, comms[at]);
    check(data[0], at);
  }
  for (int at = 0; at < kComms; ++at) {
    cast_beside(comms[at], at + 1);
    MPI_Barrier(comms[at]);
    cast_beside(comms[at], at + 2);
  }
  for (int at = 0; at < kComms; ++at) MPI_Comm_free(&comms[at]);
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  fill(data[0], 0);
  MPI_Bcast(data[0], kCount, MPI_FLOAT, 0, comms[0]);
  cast_beside(comms[0], 0);
  MPI_Comm_free(&comms[0]);
}

static void cast_while_refused(int is_before, int is_persistent) {
  if (is_before) set_threads_refused(1);
  fill(data[0], 0);
  MPI_Bcast(data[0], kCount, MPI_FLOAT, 0, MPI_COMM_WORLD);
  set_threads_refused(1);
  cast_in_each_way();
  if (is_persistent) cast_persistently();
  set_threads_refused(0);
  MPI_Barrier(MPI_COMM_WORLD);
  cast_in_each_way();
  if (is_persistent) cast_persistently();
}

int main(int argc, char** argv) {
  int provided = 0;
  const int is_many = argc > 1 && strcmp(argv[1], "many") == 0;
  const int is_before = argc > 1 && strcmp(argv[1], "before") == 0;
  const int is_persistent = argc > 2 && strcmp(argv[2], "persistent") == 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (is_many) {
    cast_on_many();
    if (is_persistent) cast_with_many();
  } else {
    cast_while_refused(is_before, is_persistent);
  }
  if (mistakes == 0) printf("all right\n");
  MPI_Finalize();
  return mistakes != 0;
}
