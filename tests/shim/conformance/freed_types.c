// MPI_THREAD_MULTIPLE: threads free datatypes that messages, other types and other handles still
// use. Of whole numbers, so that the MPI itself sends them as they are.
#include <pthread.h>

#include "conformance.h"

enum {
  kThreads = 3,
  kRounds = 60,
  kBlocks = 40000,
  kHandleRounds = 2000,
  kHandleSeconds = 4,
  kFew = 100
};

typedef struct Worker {
  int number, bad;
  int *out, *in;
} Worker;

static Worker workers[kThreads];

static void in_threads(int count, void* (*work)(void*)) {
  pthread_t threads[kThreads];
  for (int at = 0; at < count; ++at) {
    workers[at] = (Worker){at, 0, bytes(2 * kBlocks * sizeof(int)), bytes(kBlocks * sizeof(int))};
    pthread_create(&threads[at], NULL, work, &workers[at]);
  }
  for (int at = 0; at < count; ++at) pthread_join(threads[at], NULL);
  for (int at = 0; at < count; ++at) CHECK(workers[at].bad == 0);
}

static MPI_Datatype vector_of(int blocks) {
  MPI_Datatype made;
  MPI_Type_vector(blocks, 1, 2, MPI_INT, &made);
  MPI_Type_commit(&made);
  return made;
}

static void* send_and_free(void* argument) {
  Worker* me = argument;
  for (int at = 0; at < 2 * kBlocks; ++at) me->out[at] = me->number + at;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Datatype gaps = vector_of(kBlocks);
    MPI_Request requests[2];
    MPI_Irecv(me->in, kBlocks, MPI_INT, 1 - rank, me->number, comm, &requests[0]);
    MPI_Isend(me->out, 1, gaps, 1 - rank, me->number, comm, &requests[1]);
    MPI_Type_free(&gaps);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < kBlocks; ++at) me->bad += me->in[at] != me->number + 2 * at;
  }
  return NULL;
}

static void before_their_messages(void) { in_threads(kThreads, send_and_free); }

// The handles that MPI_Type_get_contents gives are the caller's own, which it frees.
static MPI_Datatype inner, outer;

static void* free_or_use(void* argument) {
  Worker* me = argument;
  // Threads that spin for one another take seconds if other work has the processors. Both ends
  // see both clocks' word, and so end with the same round.
  double end = MPI_Wtime() + kHandleSeconds;
  int over = 0;
  for (int round = 0; round < kHandleRounds && !over; ++round) {
    if (me->number == 0) {
      int count = 0;
      MPI_Datatype again;
      MPI_Type_get_contents(outer, 1, 0, 1, &count, NULL, &again);
      MPI_Type_free(&again);
    } else {
      MPI_Datatype used = me->number == 1 ? inner : outer;
      me->out[2] = round;
      me->out[4] = MPI_Wtime() > end;
      MPI_Sendrecv(me->out, 1, used, 1 - rank, me->number, me->in, 1, used, 1 - rank, me->number,
                   comm, MPI_STATUS_IGNORE);
      me->bad += me->in[2] != round;
      over = me->out[4] || me->in[4];
    }
  }
  return NULL;
}

static void while_other_handles_are_in_use(void) {
  inner = vector_of(kFew);
  MPI_Type_contiguous(1, inner, &outer);
  MPI_Type_commit(&outer);
  in_threads(kThreads, free_or_use);
  MPI_Type_free(&outer);
  MPI_Type_free(&inner);
}

static const Case kCases[] = {
    {"before_their_messages", before_their_messages},
    {"while_other_handles_are_in_use", while_other_handles_are_in_use},
};
FAMILY(freed_types, 2, kThreadMultiple);
