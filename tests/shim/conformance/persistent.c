// Persistent requests: started, completed, cancelled and freed in every order that MPI allows.
#include <stdlib.h>

#include "conformance.h"

enum { kCount = 300, kRounds = 50 };

static void restarted(void) {
  float* data = floats(kCount);
  MPI_Request request;
  MPI_Status status;
  if (rank == 0) MPI_Send_init(data, kCount, MPI_FLOAT, 1, 4, comm, &request);
  if (rank == 1) MPI_Recv_init(data, kCount, MPI_FLOAT, 0, 4, comm, &request);
  const MPI_Request before = request;
  for (int round = 0; round < kRounds; ++round) {
    fill(data, kCount, rank == 0 ? round : 0);
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    CHECK(request == before && holds(data, kCount, round));
    if (rank == 1) CHECK(is_status(&status, 0, 4, kCount));
  }
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL);
}

static void all_at_once(void) {
  enum { kRequests = 8 };
  MPI_Request requests[kRequests];
  MPI_Status statuses[kRequests];
  float* data = floats(kRequests * kCount);
  for (int at = 0; at < kRequests; ++at) {
    float* one = data + at * kCount;
    const int count = at % 2 ? 2 : kCount;  // every other one too small to be eligible
    if (rank == 0) MPI_Send_init(one, count, MPI_FLOAT, 1, at, comm, &requests[at]);
    if (rank == 1) MPI_Recv_init(one, kCount, MPI_FLOAT, 0, at, comm, &requests[at]);
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int at = 0; at < kRequests && rank == 0; ++at)
      fill(data + at * kCount, kCount, round + at);
    MPI_Startall(kRequests, requests);
    MPI_Waitall(kRequests, requests, statuses);
    for (int at = 0; at < kRequests && rank == 1; ++at) {
      const int count = at % 2 ? 2 : kCount;
      CHECK(holds(data + at * kCount, count, round + at));
      CHECK(is_status(&statuses[at], 0, at, count));
    }
  }
  for (int at = 0; at < kRequests; ++at) MPI_Request_free(&requests[at]);
}

static void tested_until_done(void) {
  float* data = floats(kCount);
  MPI_Request request;
  int done = 0, index = 0, completed = 0;
  if (rank == 0) MPI_Send_init(data, kCount, MPI_FLOAT, 1, 4, comm, &request);
  if (rank == 1) MPI_Recv_init(data, kCount, MPI_FLOAT, 0, 4, comm, &request);
  for (int round = 0; round < 4; ++round) {
    fill(data, kCount, rank == 0 ? round : 9);
    MPI_Start(&request);
    for (done = 0; !done;) {
      if (round == 0) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (round == 1) MPI_Testany(1, &request, &index, &done, MPI_STATUS_IGNORE);
      if (round == 2) MPI_Testall(1, &request, &done, MPI_STATUSES_IGNORE);
      if (round == 3) MPI_Testsome(1, &request, &done, &completed, MPI_STATUSES_IGNORE);
      CHECK(request != MPI_REQUEST_NULL);
    }
    CHECK(holds(data, kCount, round));
    // Inactive now: complete at once, with an empty status.
    MPI_Status status;
    MPI_Test(&request, &done, &status);
    CHECK(done && is_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0));
    MPI_Request_get_status(request, &done, &status);
    CHECK(done && is_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0));
  }
  MPI_Request_free(&request);
}

static void status_before_wait(void) {
  float* data = floats(kCount);
  MPI_Request request;
  MPI_Status status;
  int done = 0;
  if (rank == 0) {
    fill(data, kCount, 2);
    MPI_Send(data, kCount, MPI_FLOAT, 1, 4, comm);
    return;
  }
  MPI_Recv_init(data, kCount, MPI_FLOAT, 0, 4, comm, &request);
  MPI_Start(&request);
  while (!done) MPI_Request_get_status(request, &done, &status);
  CHECK(holds(data, kCount, 2) && is_status(&status, 0, 4, kCount));
  MPI_Wait(&request, &status);
  CHECK(is_status(&status, 0, 4, kCount));
  MPI_Request_free(&request);
}

static void freed_while_active(void) {
  float* data = floats(kCount);
  MPI_Request request;
  if (rank == 0) {
    fill(data, kCount, 5);
    MPI_Send_init(data, kCount, MPI_FLOAT, 1, 4, comm, &request);
    MPI_Start(&request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
  } else {
    MPI_Recv(data, kCount, MPI_FLOAT, 0, 4, comm, MPI_STATUS_IGNORE);
    CHECK(holds(data, kCount, 5));
  }
  meet();
}

static void never_started(void) {
  float* data = floats(kCount);
  MPI_Request requests[2];
  MPI_Send_init(data, kCount, MPI_FLOAT, 1 - rank, 4, comm, &requests[0]);
  MPI_Recv_init(data, kCount, MPI_FLOAT, 1 - rank, 4, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
}

static void cancelled_and_restarted(void) {
  float* data = floats(kCount);
  MPI_Request request;
  MPI_Status status;
  int cancelled = 0;
  if (rank == 1) {
    MPI_Recv_init(data, kCount, MPI_FLOAT, 0, 4, comm, &request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled && request != MPI_REQUEST_NULL);
    meet();
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(!cancelled && holds(data, kCount, 6) && is_status(&status, 0, 4, kCount));
    MPI_Request_free(&request);
  } else {
    fill(data, kCount, 6);
    meet();
    MPI_Send(data, kCount, MPI_FLOAT, 1, 4, comm);
  }
}

typedef int (*SendInit)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static void every_mode(void) {
  static const SendInit kModes[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
  int space = 4 * (kCount * (int)sizeof(float) + MPI_BSEND_OVERHEAD);
  void* buffer = malloc((size_t)space);
  MPI_Buffer_attach(buffer, space);
  float* data = floats(kCount);
  MPI_Request request;
  for (int mode = 0; mode < 4; ++mode) {
    for (int round = 0; round < 3; ++round) {
      fill(data, kCount, rank == 0 ? mode + round : 9);
      if (rank == 1) MPI_Irecv(data, kCount, MPI_FLOAT, 0, mode, comm, &request);
      if (rank == 0) kModes[mode](data, kCount, MPI_FLOAT, 1, mode, comm, &request);
      meet();
      if (rank == 0) MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(holds(data, kCount, mode + round));
      if (rank == 0) MPI_Request_free(&request);
    }
  }
  MPI_Buffer_detach(&buffer, &space);
  free(buffer);
}

static void type_freed_between_starts(void) {
  float* data = floats(2 * kCount);
  MPI_Datatype every_other;
  MPI_Request request;
  MPI_Type_vector(kCount, 1, 2, MPI_FLOAT, &every_other);
  MPI_Type_commit(&every_other);
  if (rank == 0) MPI_Send_init(data, 1, every_other, 1, 4, comm, &request);
  if (rank == 1) MPI_Recv_init(data, 1, every_other, 0, 4, comm, &request);
  MPI_Type_free(&every_other);
  for (int round = 0; round < 5; ++round) {
    for (int at = 0; at < 2 * kCount; ++at) data[at] = (float)(rank == 0 ? round + at : -1);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int at = 0; at < 2 * kCount && rank == 1; ++at) {
      CHECK(data[at] == (float)(at % 2 ? -1 : round + at));
    }
  }
  MPI_Request_free(&request);
}

static void with_no_process(void) {
  float* data = floats(kCount);
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Send_init(data, kCount, MPI_FLOAT, MPI_PROC_NULL, 4, comm, &requests[0]);
  MPI_Recv_init(data, kCount, MPI_FLOAT, MPI_PROC_NULL, 4, comm, &requests[1]);
  for (int round = 0; round < 3; ++round) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, statuses);
    CHECK(is_status(&statuses[1], MPI_PROC_NULL, MPI_ANY_TAG, 0));
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static const Case kCases[] = {
    {"restarted", restarted},
    {"all_at_once", all_at_once},
    {"tested_until_done", tested_until_done},
    {"status_before_wait", status_before_wait},
    {"freed_while_active", freed_while_active},
    {"never_started", never_started},
    {"cancelled_and_restarted", cancelled_and_restarted},
    {"every_mode", every_mode},
    {"type_freed_between_starts", type_freed_between_starts},
    {"with_no_process", with_no_process},
};
FAMILY(persistent, 2, 0);
