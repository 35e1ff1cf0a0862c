// Messages that are started and completed in all ways that MPI has.
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
