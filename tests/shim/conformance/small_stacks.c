// MPI_THREAD_MULTIPLE on threads of little stack, as task runtimes make them.
#include <pthread.h>

#include "conformance.h"

enum { kStackBytes = 64 << 10, kCount = 100000 };

typedef struct Work {
  int bad;
  float *out, *in;
} Work;

static void on_small_stack(void* (*body)(void*)) {
  Work work = {0, floats(kCount), floats(kCount)};
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_create(&thread, &attributes, body, &work);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  CHECK(work.bad == 0);
}

static void* exchange(void* argument) {
  Work* work = argument;
  fill(work->out, kCount, rank);
  MPI_Sendrecv(work->out, kCount, MPI_FLOAT, 1 - rank, 0, work->in, kCount, MPI_FLOAT, 1 - rank, 0,
               comm, MPI_STATUS_IGNORE);
  work->bad = !holds(work->in, kCount, 1 - rank);
  return NULL;
}

static void* exchange_with_gaps(void* argument) {
  Work* work = argument;
  MPI_Request requests[2];
  MPI_Datatype every_second;
  MPI_Type_vector(kCount / 2, 1, 2, MPI_FLOAT, &every_second);
  MPI_Type_commit(&every_second);
  fill(work->out, kCount, rank);
  MPI_Irecv(work->in, 1, every_second, 1 - rank, 1, comm, &requests[0]);
  MPI_Isend(work->out, 1, every_second, 1 - rank, 1, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Type_free(&every_second);
  fill(work->out, kCount, 1 - rank);
  for (int at = 0; at < kCount; at += 2) work->bad += work->in[at] != work->out[at];
  return NULL;
}

static void* add_up(void* argument) {
  Work* work = argument;
  fill(work->out, kCount, rank);
  MPI_Allreduce(work->out, work->in, kCount, MPI_FLOAT, MPI_MAX, comm);
  MPI_Bcast(work->in, kCount, MPI_FLOAT, 0, comm);
  work->bad = !holds(work->in, kCount, 1);
  return NULL;
}

static void messages(void) { on_small_stack(exchange); }
static void messages_with_gaps(void) { on_small_stack(exchange_with_gaps); }
static void collectives_there(void) { on_small_stack(add_up); }

static const Case kCases[] = {
    {"messages", messages},
    {"messages_with_gaps", messages_with_gaps},
    {"collectives_there", collectives_there},
};
FAMILY(small_stacks, 2, kThreadMultiple);
