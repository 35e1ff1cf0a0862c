// MPI_THREAD_MULTIPLE: threads of one process send, receive and probe at once.
#include <pthread.h>
#include <stdatomic.h>

#include "conformance.h"

enum { kThreads = 4, kRounds = 100, kCount = 200 };

typedef struct Worker {
  int number;
  int bad;
  float *out, *in;  // kCount each, of the case
} Worker;

static Worker workers[kThreads];

static void in_threads(int count, void* (*work)(void*)) {
  pthread_t threads[kThreads];
  for (int at = 0; at < count; ++at) {
    workers[at].number = at;
    workers[at].bad = 0;
    workers[at].out = floats(kCount);
    workers[at].in = floats(kCount);
    pthread_create(&threads[at], NULL, work, &workers[at]);
  }
  for (int at = 0; at < count; ++at) pthread_join(threads[at], NULL);
  for (int at = 0; at < count; ++at) CHECK(workers[at].bad == 0);
}

// Each thread talks to its counterpart by a tag of its own.
static void* ping_pong(void* argument) {
  Worker* me = argument;
  const int other = 1 - rank, tag = me->number;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Request requests[2];
    MPI_Status status;
    fill(me->out, kCount, round + me->number);
    MPI_Irecv(me->in, kCount, MPI_FLOAT, other, tag, comm, &requests[0]);
    MPI_Isend(me->out, kCount, MPI_FLOAT, other, tag, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    me->bad += !holds(me->in, kCount, round + me->number);
    if (rank == 0) MPI_Send(me->out, kCount, MPI_FLOAT, other, tag, comm);
    MPI_Recv(me->in, kCount, MPI_FLOAT, other, tag, comm, &status);
    if (rank == 1) MPI_Send(me->out, kCount, MPI_FLOAT, other, tag, comm);
    me->bad += !is_status(&status, other, tag, kCount);
  }
  return NULL;
}

static void pairs(void) { in_threads(kThreads, ping_pong); }

// Every other thread probes for its message, blocking or not; the rest just receive.
static void* probe_or_receive(void* argument) {
  Worker* me = argument;
  const int tag = me->number;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Status status;
    MPI_Message message;
    if (rank == 0) {
      fill(me->out, kCount, round + me->number);
      MPI_Send(me->out, kCount, MPI_FLOAT, 1, tag, comm);
      if (round % 10 == 9) MPI_Recv(me->in, 1, MPI_FLOAT, 1, tag, comm, &status);
      continue;
    }
    if (me->number % 4 == 1) {
      MPI_Probe(0, tag, comm, &status);
      me->bad += !is_status(&status, 0, tag, kCount);
    }
    if (me->number % 4 == 3) {
      MPI_Mprobe(0, tag, comm, &message, &status);
      me->bad += !is_status(&status, 0, tag, kCount);
      MPI_Mrecv(me->in, kCount, MPI_FLOAT, &message, &status);
    } else {
      MPI_Recv(me->in, kCount, MPI_FLOAT, 0, tag, comm, &status);
    }
    me->bad += !holds(me->in, kCount, round + me->number) || !is_status(&status, 0, tag, kCount);
    if (round % 10 == 9) MPI_Send(me->in, 1, MPI_FLOAT, 0, tag, comm);
  }
  return NULL;
}

static void probing_thread(void) { in_threads(kThreads, probe_or_receive); }

// Matched probes exist so that several threads may serve one queue: each message goes to one.
static atomic_int served;
static float marks[kThreads * kRounds];

static void* serve(void* argument) {
  Worker* me = argument;
  while (atomic_load(&served) < kThreads * kRounds) {
    MPI_Message message;
    MPI_Status status;
    int flag = 0;
    MPI_Improbe(0, MPI_ANY_TAG, comm, &flag, &message, &status);
    if (!flag) continue;
    atomic_fetch_add(&served, 1);
    me->bad += !is_status(&status, 0, status.MPI_TAG, status.MPI_TAG % 2 ? kCount : 3);
    MPI_Mrecv(me->in, kCount, MPI_FLOAT, &message, &status);
    me->bad += !holds(me->in, status.MPI_TAG % 2 ? kCount : 3, status.MPI_TAG % 7);
    marks[status.MPI_TAG] += 1;
  }
  return NULL;
}

static void shared_queue(void) {
  if (rank == 1) {
    atomic_store(&served, 0);
    for (int at = 0; at < kThreads * kRounds; ++at) marks[at] = 0;
    in_threads(kThreads, serve);
    for (int at = 0; at < kThreads * kRounds; ++at) CHECK(marks[at] == 1);
  }
  float* data = floats(kCount);
  for (int at = 0; at < kThreads * kRounds && rank == 0; ++at) {
    fill(data, kCount, at % 7);
    MPI_Send(data, at % 2 ? kCount : 3, MPI_FLOAT, 1, at, comm);
  }
}

// All threads of a process take from one tag: each message arrives once, whole.
static void* take_any(void* argument) {
  Worker* me = argument;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Status status;
    if (rank == 0) fill(me->out, kCount, me->number);
    if (rank == 0) MPI_Send(me->out, kCount, MPI_FLOAT, 1, 5, comm);
    if (rank == 1) {
      MPI_Recv(me->in, kCount, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
      me->bad += !is_status(&status, 0, 5, kCount);
      me->bad += !holds(me->in, kCount, (int)me->in[0] / 4096);
    }
  }
  return NULL;
}

static void one_tag_for_all(void) { in_threads(kThreads, take_any); }

// Threads that all receive into one buffer, as benchmarks do: every message is the same.
static float* shared_buffer;

static void* receive_shared(void* argument) {
  Worker* me = argument;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Status status;
    if (rank == 0) fill(me->out, kCount, 7);
    if (rank == 0) MPI_Send(me->out, kCount, MPI_FLOAT, 1, me->number, comm);
    if (rank == 0) continue;
    MPI_Recv(shared_buffer, kCount, MPI_FLOAT, 0, me->number, comm, &status);
    me->bad += !is_status(&status, 0, me->number, kCount);
  }
  return NULL;
}

static void one_buffer_for_all_threads(void) {
  shared_buffer = floats(kCount);
  in_threads(kThreads, receive_shared);
  if (rank == 1) CHECK(holds(shared_buffer, kCount, 7));
}

// The first use of a datatype may come from several threads at once.
static MPI_Datatype shared_type;

static void* use_shared_type(void* argument) {
  Worker* me = argument;
  fill(me->out, kCount, rank);
  MPI_Sendrecv(me->out, 1, shared_type, 1 - rank, me->number, me->in, 1, shared_type, 1 - rank,
               me->number, comm, MPI_STATUS_IGNORE);
  for (int at = 0; at < kCount; at += 2) me->bad += me->in[at] != (float)((1 - rank) * 4096 + at);
  return NULL;
}

static void one_type_for_all(void) {
  for (int round = 0; round < 50; ++round) {
    MPI_Type_vector(kCount / 2, 1, 2, MPI_FLOAT, &shared_type);
    MPI_Type_commit(&shared_type);
    in_threads(kThreads, use_shared_type);
    MPI_Type_free(&shared_type);
  }
}

static const Case kCases[] = {
    {"pairs", pairs},
    {"probing_thread", probing_thread},
    {"shared_queue", shared_queue},
    {"one_tag_for_all", one_tag_for_all},
    {"one_buffer_for_all_threads", one_buffer_for_all_threads},
    {"one_type_for_all", one_type_for_all},
};
FAMILY(threads, 2, kThreadMultiple);
