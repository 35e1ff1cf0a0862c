// Cancelled sends and receives: either the message travels or it does not, and both sides agree.
#include "conformance.h"

enum { kCount = 400, kRounds = 10 };

static int finish_cancelled(MPI_Request* request, MPI_Status* status) {
  int cancelled = 0;
  CHECK(MPI_Wait(request, status) == MPI_SUCCESS);
  MPI_Test_cancelled(status, &cancelled);
  return cancelled;
}

// The sender says whether it was cancelled; if not, the message is there to be received.
static void send_and_cancel(int count, int wait_first) {
  float* data = floats(count);
  MPI_Request request;
  MPI_Status status;
  int cancelled = 0, flag = 0;
  if (rank == 0) {
    fill(data, count, 1);
    MPI_Isend(data, count, MPI_FLOAT, 1, 5, comm, &request);
    if (wait_first) MPI_Test(&request, &flag, &status);
    if (!flag) MPI_Cancel(&request);
    if (!flag) cancelled = finish_cancelled(&request, &status);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Send(&cancelled, 1, MPI_INT, 1, 6, comm);
    return;
  }
  MPI_Recv(&cancelled, 1, MPI_INT, 0, 6, comm, MPI_STATUS_IGNORE);
  MPI_Iprobe(0, 5, comm, &flag, &status);
  if (cancelled) CHECK(!flag);
  if (!cancelled) {
    MPI_Recv(data, count, MPI_FLOAT, 0, 5, comm, &status);
    CHECK(holds(data, count, 1) && is_status(&status, 0, 5, count));
  }
}

// Short ones: a long one that is not cancelled waits for a receive that its receiver cannot know
// of.
static void sends(void) {
  for (int round = 0; round < kRounds; ++round) send_and_cancel(kCount, round % 2);
  float *out = floats(kCount), *in = floats(kCount);
  fill(out, kCount, rank);
  MPI_Sendrecv(out, kCount, MPI_FLOAT, 1 - rank, 5, in, kCount, MPI_FLOAT, 1 - rank, 5, comm,
               MPI_STATUS_IGNORE);
  CHECK(holds(in, kCount, 1 - rank));
}

// The next receive gets the message that the cancelled one would have had.
static void receives(void) {
  float *lost = floats(kCount), *data = floats(kCount);
  MPI_Request request;
  MPI_Status status;
  for (int round = 0; round < kRounds; ++round) {
    const int source = round % 2 ? MPI_ANY_SOURCE : 0, tag = round % 3 ? MPI_ANY_TAG : 5;
    if (rank == 1) {
      MPI_Irecv(lost, kCount, MPI_FLOAT, source, tag, comm, &request);
      MPI_Cancel(&request);
      CHECK(finish_cancelled(&request, &status));
    }
    meet();
    if (rank == 0) {
      fill(data, kCount, round);
      MPI_Send(data, kCount, MPI_FLOAT, 1, 5, comm);
      continue;
    }
    MPI_Recv(data, kCount, MPI_FLOAT, source, tag, comm, &status);
    CHECK(holds(data, kCount, round) && is_status(&status, 0, 5, kCount));
  }
  CHECK(lost[0] == 0 && lost[kCount - 1] == 0);
}

// The message is there before the receive: too late to cancel.
static void receive_of_what_is_here(void) {
  float* data = floats(kCount);
  MPI_Request request;
  MPI_Status status;
  if (rank == 0) {
    fill(data, kCount, 3);
    MPI_Send(data, kCount, MPI_FLOAT, 1, 5, comm);
    return;
  }
  MPI_Probe(0, 5, comm, &status);
  MPI_Irecv(data, kCount, MPI_FLOAT, 0, 5, comm, &request);
  MPI_Cancel(&request);
  if (finish_cancelled(&request, &status)) {
    MPI_Recv(data, kCount, MPI_FLOAT, 0, 5, comm, &status);
  }
  CHECK(holds(data, kCount, 3) && is_status(&status, 0, 5, kCount));
}

// Among others that are not cancelled, completed by every call for many.
static void one_of_many(void) {
  enum { kRequests = 4 };
  float* data = floats(kRequests * kCount);
  for (int way = 0; way < 3; ++way) {
    MPI_Request requests[kRequests];
    MPI_Status statuses[kRequests];
    int indices[kRequests], done = 0, cancelled = 0;
    for (int at = 0; at < kRequests && rank == 1; ++at) {
      MPI_Irecv(data + at * kCount, kCount, MPI_FLOAT, 0, at, comm, &requests[at]);
    }
    if (rank == 1) MPI_Cancel(&requests[2]);
    meet();
    for (int at = 0; at < kRequests && rank == 0; ++at) {
      fill(data, kCount, at + way);
      if (at != 2) MPI_Send(data, kCount, MPI_FLOAT, 1, at, comm);
    }
    if (rank == 0) continue;
    if (way == 0) MPI_Waitall(kRequests, requests, statuses);
    while (way == 1 && !done) MPI_Testall(kRequests, requests, &done, statuses);
    for (int left = kRequests; way == 2 && left > 0; left -= done) {
      MPI_Status some[kRequests];
      MPI_Waitsome(kRequests, requests, &done, indices, some);
      for (int at = 0; at < done; ++at) statuses[indices[at]] = some[at];
    }
    for (int at = 0; at < kRequests; ++at) {
      MPI_Test_cancelled(&statuses[at], &cancelled);
      CHECK(cancelled == (at == 2));
      if (at != 2) CHECK(holds(data + at * kCount, kCount, at + way));
      if (at != 2) CHECK(is_status(&statuses[at], 0, at, kCount));
    }
  }
}

// Freed after it was cancelled, and never asked about.
static void cancelled_and_freed(void) {
  float *lost = floats(kCount), *data = floats(kCount);
  MPI_Request request;
  MPI_Status status;
  if (rank == 1) {
    MPI_Irecv(lost, kCount, MPI_FLOAT, 0, 5, comm, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
  }
  meet();
  if (rank == 0) {
    fill(data, kCount, 2);
    MPI_Send(data, kCount, MPI_FLOAT, 1, 5, comm);
    return;
  }
  MPI_Recv(data, kCount, MPI_FLOAT, 0, 5, comm, &status);
  CHECK(holds(data, kCount, 2) && is_status(&status, 0, 5, kCount) && lost[0] == 0);
}

static const Case kCases[] = {
    {"cancelled_sends", sends},
    {"cancelled_receives", receives},
    {"cancelled_too_late", receive_of_what_is_here},
    {"cancelled_among_many", one_of_many},
    {"cancelled_and_freed", cancelled_and_freed},
};
FAMILY(cancels, 2, 0);
