// Messages that are started and completed in all ways that MPI has.
#include <pthread.h>

#include "small_calls.h"

int batch_halo(Run* run) {
  start_messages(run, run->comm, 0, kMessages);
  MPI_Waitall(2 * kMessages, run->requests, MPI_STATUSES_IGNORE);
  return 2 * kMessages + 1;
}

int batch_waitany(Run* run) {
  start_messages(run, run->comm, 0, kMessages);
  for (int left = 2 * kMessages, at = 0; left > 0; --left) {
    MPI_Waitany(2 * kMessages, run->requests, &at, MPI_STATUS_IGNORE);
  }
  return 4 * kMessages;
}

int batch_waitsome(Run* run) {
  int calls = 2 * kMessages;
  start_messages(run, run->comm, 0, kMessages);
  for (int left = 2 * kMessages, done = 0; left > 0; left -= done, ++calls) {
    MPI_Waitsome(2 * kMessages, run->requests, &done, run->indices, run->statuses);
  }
  return calls;
}

int batch_testany(Run* run) {
  int calls = 2 * kMessages;
  start_messages(run, run->comm, 0, kMessages);
  for (int left = 2 * kMessages, at = 0, done = 0; left > 0; left -= done, ++calls) {
    MPI_Testany(2 * kMessages, run->requests, &at, &done, MPI_STATUS_IGNORE);
  }
  return calls;
}

int batch_testsome(Run* run) {
  int calls = 2 * kMessages;
  start_messages(run, run->comm, 0, kMessages);
  for (int left = 2 * kMessages, done = 0; left > 0; left -= done, ++calls) {
    MPI_Testsome(2 * kMessages, run->requests, &done, run->indices, run->statuses);
  }
  return calls;
}

int batch_testall(Run* run) {
  int calls = 2 * kMessages;
  start_messages(run, run->comm, 0, kMessages);
  for (int done = 0; !done; ++calls) {
    MPI_Testall(2 * kMessages, run->requests, &done, run->statuses);
  }
  return calls;
}

// One at a time: completed by MPI_Wait and MPI_Test by turns.
int batch_one(Run* run) {
  int calls = 0;
  for (int at = 0; at < kMessages; ++at) {
    MPI_Request received, sent;
    MPI_Irecv(received_at(run, at), run->floats, MPI_FLOAT, run->partner, at, run->comm, &received);
    MPI_Isend(sent_at(run, at), run->floats, MPI_FLOAT, run->partner, at, run->comm, &sent);
    for (int done = 0; at % 2 && !done; ++calls) MPI_Test(&received, &done, MPI_STATUS_IGNORE);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    calls += 4;
  }
  return calls;
}

int batch_persistent(Run* run) {
  MPI_Startall(2 * kMessages, run->persistent);
  MPI_Waitall(2 * kMessages, run->persistent, run->statuses);
  return 2 * kMessages + 1;  // A start is one.
}

int batch_persistent_any(Run* run) {
  MPI_Startall(2 * kMessages, run->persistent);
  for (int left = 2 * kMessages, at = 0; left > 0; --left) {
    MPI_Waitany(2 * kMessages, run->persistent, &at, MPI_STATUS_IGNORE);
  }
  return 4 * kMessages;
}

int batch_partitioned(Run* run) {
#if MPI_VERSION >= 4
  MPI_Startall(2, run->in_parts);
  for (int part = 0; part < kMessages; ++part) MPI_Pready(part, run->in_parts[1]);
  MPI_Waitall(2, run->in_parts, MPI_STATUSES_IGNORE);
  return kMessages + 2;
#else
  return run->size > 0 ? 0 : 1;
#endif
}

int batch_thousands(Run* run) {
  start_messages(run, run->comm, 0, kThousands);
  MPI_Waitall(2 * kThousands, run->requests, run->statuses);
  return 2 * kThousands + 1;
}

int batch_sendrecv(Run* run) {
  for (int at = 0; at < kMessages; ++at) {
    MPI_Sendrecv(sent_at(run, at), run->floats, MPI_FLOAT, run->partner, at, received_at(run, at),
                 run->floats, MPI_FLOAT, run->partner, at, run->comm, MPI_STATUS_IGNORE);
  }
  return kMessages;
}

// Synchronous, buffered and ready sends.
int batch_modes(Run* run) {
  for (int at = 0; at < kMessages; ++at) {
    MPI_Request received, sent;
    MPI_Irecv(received_at(run, at), run->floats, MPI_FLOAT, run->partner, at, run->comm, &received);
    if (at % 2) {
      MPI_Issend(sent_at(run, at), run->floats, MPI_FLOAT, run->partner, at, run->comm, &sent);
    } else {
      MPI_Ibsend(sent_at(run, at), run->floats, MPI_FLOAT, run->partner, at, run->comm, &sent);
    }
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
  return 4 * kMessages;
}

// Collectives, one-sided calls, and threads.

// The window is `received`: what is put there arrives as a message would.
int batch_one_sided(Run* run) {
  if (run->window == MPI_WIN_NULL) return 0;
  MPI_Win_fence(0, run->window);
  for (int at = 0; at < kMessages; ++at) {
    MPI_Put(sent_at(run, at), run->floats, MPI_FLOAT, run->partner, (MPI_Aint)at * run->floats,
            run->floats, MPI_FLOAT, run->window);
  }
  MPI_Win_fence(0, run->window);
  MPI_Win_lock(MPI_LOCK_SHARED, run->partner, 0, run->window);
  MPI_Accumulate(sent_at(run, 0), run->floats, MPI_FLOAT, run->partner, 0, run->floats, MPI_FLOAT,
                 MPI_REPLACE, run->window);
  MPI_Get(received_at(run, kMessages), 1, MPI_FLOAT, run->partner, (MPI_Aint)run->floats, 1,
          MPI_FLOAT, run->window);
  MPI_Win_unlock(run->partner, run->window);
  return kMessages + 6;
}

int batch_collectives(Run* run) {
  const MPI_Comm comm = run->comm;
  const int count = run->floats;
  MPI_Barrier(comm);
  MPI_Allreduce(sent_at(run, 0), received_at(run, 0), count, MPI_FLOAT, MPI_MAX, comm);
  if (run->rank == 0) *received_at(run, 1) = *sent_at(run, 1);
  MPI_Bcast(received_at(run, 1), count, MPI_FLOAT, 0, comm);
  MPI_Reduce(sent_at(run, 2), received_at(run, 2), count, MPI_FLOAT, MPI_MIN, 0, comm);
  float* const many = received_at(run, kMessages);
  MPI_Allgather(sent_at(run, 3), count, MPI_FLOAT, many, count, MPI_FLOAT, comm);
  MPI_Alltoall(sent_at(run, 4), count, MPI_FLOAT, many, count, MPI_FLOAT, comm);
  MPI_Gather(sent_at(run, 5), count, MPI_FLOAT, many, count, MPI_FLOAT, 0, comm);
  MPI_Scatter(sent_at(run, 6), count, MPI_FLOAT, many, count, MPI_FLOAT, 0, comm);
  MPI_Scan(sent_at(run, 7), many, count, MPI_FLOAT, MPI_SUM, comm);
  return 9;
}

int batch_started_collectives(Run* run) {
  const MPI_Comm comm = run->comm;
  const int count = run->floats;
  float* const many = received_at(run, kMessages);
  MPI_Request* const all = run->requests;
  MPI_Ibarrier(comm, all);
  MPI_Iallreduce(sent_at(run, 0), received_at(run, 0), count, MPI_FLOAT, MPI_MAX, comm, all + 1);
  if (run->rank == 0) *received_at(run, 1) = *sent_at(run, 1);
  MPI_Ibcast(received_at(run, 1), count, MPI_FLOAT, 0, comm, all + 2);
  MPI_Iallgather(sent_at(run, 3), count, MPI_FLOAT, many, count, MPI_FLOAT, comm, all + 3);
  MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
  return 5;
}

typedef struct {
  Run run;
  int place;
} OfThread;

// Messages of one thread, which completes them one after the other. Of all threads the tags and the
// communicators differ.
static void* exchange(void* given) {
  OfThread* const own = given;
  Run* const run = &own->run;
  const int each = kMessages / kThreads, first = own->place * each;
  for (int round = 0; round < 4; ++round) {
    start_messages(run, run->of_threads[own->place], first, each);
    for (int left = 2 * each, at = 0; left > 0; --left) {
      MPI_Waitany(2 * each, run->requests + 2 * first, &at, MPI_STATUS_IGNORE);
    }
  }
  return NULL;
}

int batch_threads(Run* run) {
  pthread_t threads[kThreads];
  OfThread own[kThreads];
  for (int at = 0; at < kThreads; ++at) {
    own[at] = (OfThread){*run, at};
    pthread_create(&threads[at], NULL, exchange, &own[at]);
  }
  for (int at = 0; at < kThreads; ++at) pthread_join(threads[at], NULL);
  return 4 * 4 * (kMessages / kThreads) * kThreads;
}
