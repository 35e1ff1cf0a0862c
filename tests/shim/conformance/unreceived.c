// Checks that a probe does not receive: sends that wait for a receive go on waiting, and a message
// is seen before its data is here.
#include <time.h>

#include "conformance.h"

enum { kCount = 400, kLarge = 1 << 20, kTag = 6, kLast = 7, kGo = 8 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sleep_for(double length) {
  const struct timespec pause = {(time_t)length, (long)((length - (double)(time_t)length) * 1e9)};
  nanosleep(&pause, NULL);
}

static void send_to(int other, int tag) { MPI_Send(NULL, 0, MPI_BYTE, other, tag, comm); }

static void receive_from(int other, int tag) {
  MPI_Recv(NULL, 0, MPI_BYTE, other, tag, comm, MPI_STATUS_IGNORE);
}

static int is_still_waiting(MPI_Request* request) {
  int flag = 0;
  for (int at = 0; at < 2000 && !flag; ++at) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
  return !flag;
}

// Synchronous sends of other tags, of all lengths, lie before what is probed.
static void other_synchronous_sends(void) {
  const int kCounts[] = {3, kCount, 20 * kCount};
  float* data = floats(20 * kCount);
  MPI_Status status;
  MPI_Request requests[3];
  if (rank == 0) {
    for (int at = 0; at < 3; ++at) {
      MPI_Issend(data, kCounts[at], MPI_FLOAT, 1, at, comm, &requests[at]);
    }
    fill(data, kCount, 5);
    MPI_Send(data, kCount, MPI_FLOAT, 1, kTag, comm);
    receive_from(1, kGo);
    for (int at = 0; at < 3; ++at) CHECK(is_still_waiting(&requests[at]));
    send_to(1, kGo);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    return;
  }
  MPI_Probe(0, kTag, comm, &status);
  CHECK(is_status(&status, 0, kTag, kCount));
  send_to(0, kGo);
  receive_from(0, kGo);
  for (int at = 0; at < 3; ++at) {
    MPI_Recv(data, 20 * kCount, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    CHECK(is_status(&status, 0, at, kCounts[at]));
  }
  MPI_Recv(data, kCount, MPI_FLOAT, 0, MPI_ANY_TAG, comm, &status);
  CHECK(holds(data, kCount, 5) && is_status(&status, 0, kTag, kCount));
}

// A synchronous send of bytes that could be anything, and is looked at without asking its size.
static void probed_synchronous_bytes(void) {
  enum { kBytes = 4097 };
  char* data = bytes(kBytes);
  MPI_Request request;
  MPI_Status status;
  if (rank == 0) {
    MPI_Issend(data, kBytes, MPI_BYTE, 1, kTag, comm, &request);
    receive_from(1, kGo);
    CHECK(is_still_waiting(&request));
    send_to(1, kGo);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Probe(0, kTag, comm, &status);
  send_to(0, kGo);
  receive_from(0, kGo);
  int count = 0;
  MPI_Recv(data, kBytes, MPI_BYTE, 0, kTag, comm, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK(count == kBytes);
}

// The sender leaves MPI after it has begun.
static void sender_that_left(void) {
  float* data = floats(kLarge);
  MPI_Request request;
  MPI_Status status;
  MPI_Message message;
  for (int matched = 0; matched < 2; ++matched) {
    meet();
    if (rank == 0) {
      fill(data, kLarge, 3 + matched);
      MPI_Isend(data, kLarge, MPI_FLOAT, 1, kTag, comm, &request);
      sleep_for(2);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      continue;
    }
    const double start = seconds();
    int flag = 0;
    while (!flag && matched) MPI_Improbe(0, kTag, comm, &flag, &message, &status);
    while (!flag) MPI_Iprobe(0, kTag, comm, &flag, &status);
    CHECK(seconds() - start < 1);
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == kTag);
    CHECK(is_status(&status, 0, kTag, kLarge));  // which may wait for it
    if (matched) MPI_Mrecv(data, kLarge, MPI_FLOAT, &message, &status);
    if (!matched) MPI_Recv(data, kLarge, MPI_FLOAT, 0, kTag, comm, &status);
    CHECK(holds(data, kLarge, 3 + matched) && is_status(&status, 0, kTag, kLarge));
  }
}

// A status tells its size long after, whatever has become of the message.
static void sizes_asked_late(void) {
  enum { kMessages = 8 };
  float* data = floats(kMessages * kCount);
  MPI_Status probed[kMessages], status;
  MPI_Request request;
  MPI_Message message;
  for (int at = 0; at < kMessages; ++at) {
    float* const mine = data + at * kCount;
    if (rank == 0) {
      fill(mine, kCount - at, at);
      MPI_Send(mine, kCount - at, MPI_FLOAT, 1, at, comm);
      continue;
    }
    if (at % 4 == 3) MPI_Mprobe(0, at, comm, &message, &probed[at]);
    if (at % 4 != 3) MPI_Probe(0, at, comm, &probed[at]);
    if (at % 4 == 0) MPI_Recv(mine, kCount, MPI_FLOAT, 0, at, comm, &status);
    if (at % 4 == 3) MPI_Mrecv(mine, kCount, MPI_FLOAT, &message, &status);
    if (at % 4 == 1 || at % 4 == 2) MPI_Irecv(mine, kCount, MPI_FLOAT, 0, at, comm, &request);
    if (at % 4 == 1) CHECK(is_status(&probed[at], 0, at, kCount - at));
    if (at % 4 == 1 || at % 4 == 2) MPI_Wait(&request, &status);
    CHECK(holds(mine, kCount - at, at) && is_status(&status, 0, at, kCount - at));
  }
  for (int at = 0; at < kMessages && rank == 1; ++at) {
    MPI_Count elements = 0;
    MPI_Get_elements_x(&probed[at], MPI_FLOAT, &elements);
    CHECK(elements == kCount - at);
    CHECK(is_status(&probed[at], 0, at, kCount - at));
  }
}

static const Case kCases[] = {
    {"other_synchronous_sends", other_synchronous_sends},
    {"probed_synchronous_bytes", probed_synchronous_bytes},
    {"sender_that_left", sender_that_left},
    {"sizes_asked_late", sizes_asked_late},
};
FAMILY(unreceived, 2, 0);
