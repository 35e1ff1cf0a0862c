// MPI_THREAD_MULTIPLE: threads that probe with wildcards while others send and receive on the same
// communicator, that complete lists of requests side by side, and that share one buffer.
#include <pthread.h>
#include <stdatomic.h>

#include "conformance.h"

enum { kWorkers = 4, kRounds = 50, kCount = 200, kMessages = kWorkers * kRounds };

typedef struct Worker {
  int number, bad;
  float *out, *in;
} Worker;

static Worker workers[kWorkers];
static float* shared;
static atomic_int taken, times_seen[kMessages];
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;

static void in_threads(void* (*work)(void*)) {
  pthread_t threads[kWorkers];
  atomic_store(&taken, 0);
  for (int at = 0; at < kMessages; ++at) atomic_store(&times_seen[at], 0);
  for (int at = 0; at < kWorkers; ++at) {
    workers[at] = (Worker){at, 0, floats(kCount), floats(kRounds * kCount)};
    pthread_create(&threads[at], NULL, work, &workers[at]);
  }
  for (int at = 0; at < kWorkers; ++at) pthread_join(threads[at], NULL);
  for (int at = 0; at < kWorkers; ++at) CHECK(workers[at].bad == 0);
}

static int length_of(int number) { return number % 3 == 0 ? 5 : kCount - number % 3; }

// Each thread of rank 0 sends its share; the tag is the message's number.
static void send_share(Worker* me) {
  for (int round = 0; round < kRounds; ++round) {
    const int number = round * kWorkers + me->number;
    fill(me->out, kCount, number);
    MPI_Send(me->out, length_of(number), MPI_FLOAT, 1, number, comm);
  }
}

static void note(Worker* me, const MPI_Status* seen, const MPI_Status* status) {
  const int number = status->MPI_TAG;
  me->bad += number < 0 || number >= kMessages || seen->MPI_TAG != number;
  if (me->bad) return;
  atomic_fetch_add(&times_seen[number], 1);
  me->bad += !is_status(seen, 0, number, length_of(number));
  me->bad += !is_status(status, 0, number, length_of(number));
  me->bad += !holds(me->in, length_of(number), number);
}

static void all_seen_once(void) {
  for (int at = 0; at < kMessages && rank == 1; ++at) CHECK(atomic_load(&times_seen[at]) == 1);
}

// A probe says nothing of what other threads will have taken by the time of the receive, so this
// pair is the program's own critical section. The threads of rank 0 send meanwhile.
static void* probe_and_receive(void* argument) {
  Worker* me = argument;
  if (rank == 0) send_share(me);
  while (rank == 1 && atomic_load(&taken) < kMessages) {
    MPI_Status seen, status;
    int flag = 0;
    pthread_mutex_lock(&queue);
    MPI_Iprobe(0, MPI_ANY_TAG, comm, &flag, &seen);
    if (flag) MPI_Recv(me->in, kCount, MPI_FLOAT, 0, seen.MPI_TAG, comm, &status);
    pthread_mutex_unlock(&queue);
    if (!flag) continue;
    atomic_fetch_add(&taken, 1);
    note(me, &seen, &status);
  }
  return NULL;
}

// Matched probes need no lock.
static void* match_and_receive(void* argument) {
  Worker* me = argument;
  if (rank == 0) send_share(me);
  while (rank == 1 && atomic_fetch_add(&taken, 1) < kMessages) {
    MPI_Message message;
    MPI_Status seen, status;
    int flag = 0;
    if (me->number % 2 == 0) MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &seen);
    while (me->number % 2 == 1 && !flag) {
      MPI_Improbe(0, MPI_ANY_TAG, comm, &flag, &message, &seen);
    }
    MPI_Mrecv(me->in, kCount, MPI_FLOAT, &message, &status);
    note(me, &seen, &status);
  }
  return NULL;
}

// Probes for anything look at what the receives of the other threads are about to take.
static void* look_on(void* argument) {
  Worker* me = argument;
  if (rank == 0) send_share(me);
  for (int round = 0; round < kRounds && rank == 1; ++round) {
    MPI_Status seen, status;
    int flag = 0;
    const int number = round * kWorkers + me->number;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &seen);
    if (flag) me->bad += !is_status(&seen, 0, seen.MPI_TAG, length_of(seen.MPI_TAG));
    if (me->number % 2) MPI_Probe(0, number, comm, &seen);
    MPI_Recv(me->in, kCount, MPI_FLOAT, 0, number, comm, &status);
    note(me, &status, &status);
  }
  return NULL;
}

static void complete_list(Worker* me, MPI_Request* requests, MPI_Status* statuses) {
  int indices[kRounds], done = 0;
  for (int left = kRounds; left > 0; left -= done) {
    MPI_Status some[kRounds];
    if (me->number % 4 == 0) MPI_Waitany(kRounds, requests, indices, some), done = 1;
    if (me->number % 4 == 1) MPI_Testany(kRounds, requests, indices, &done, some);
    if (me->number % 4 == 2) MPI_Waitsome(kRounds, requests, &done, indices, some);
    if (me->number % 4 == 3) MPI_Testsome(kRounds, requests, &done, indices, some);
    for (int at = 0; at < done; ++at) statuses[indices[at]] = some[at];
  }
}

static void* own_list(void* argument) {
  Worker* me = argument;
  MPI_Request requests[kRounds];
  MPI_Status statuses[kRounds];
  if (rank == 0) send_share(me);
  for (int round = 0; round < kRounds && rank == 1; ++round) {
    MPI_Irecv(me->in + round * kCount, kCount, MPI_FLOAT, 0, round * kWorkers + me->number, comm,
              &requests[round]);
  }
  if (rank == 0) return NULL;
  complete_list(me, requests, statuses);
  for (int round = 0; round < kRounds; ++round) {
    const int number = round * kWorkers + me->number;
    me->bad += !is_status(&statuses[round], 0, number, length_of(number));
    me->bad += !holds(me->in + round * kCount, length_of(number), number);
  }
  return NULL;
}

// Not legal, and common in benchmarks: what the buffer holds then is anybody's, but each receive
// has its own status, and no message is lost or taken for another.
static void* into_one_buffer(void* argument) {
  Worker* me = argument;
  MPI_Request requests[kRounds];
  MPI_Status statuses[kRounds];
  if (rank == 0) send_share(me);
  for (int round = 0; round < kRounds && rank == 1; ++round) {
    MPI_Irecv(shared, kCount, MPI_FLOAT, 0, round * kWorkers + me->number, comm, &requests[round]);
  }
  if (rank == 1) MPI_Waitall(kRounds, requests, statuses);
  for (int round = 0; round < kRounds && rank == 1; ++round) {
    const int number = round * kWorkers + me->number;
    me->bad += !is_status(&statuses[round], 0, number, length_of(number));
  }
  return NULL;
}

static void probed(void) { in_threads(probe_and_receive), all_seen_once(); }
static void matched(void) { in_threads(match_and_receive), all_seen_once(); }
static void looked_at(void) { in_threads(look_on), all_seen_once(); }
static void lists(void) { in_threads(own_list); }

static void one_buffer(void) {
  shared = floats(kCount);
  in_threads(into_one_buffer);
}

static const Case kCases[] = {
    {"threads_probe_and_receive", probed},  {"threads_match_and_receive", matched},
    {"threads_look_on", looked_at},         {"threads_complete_own_lists", lists},
    {"threads_share_a_buffer", one_buffer},
};
FAMILY(probing_threads, 2, kThreadMultiple);
