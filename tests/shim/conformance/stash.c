// Every kind of receive, of messages that a probe has looked at before.
#include <string.h>

#include "conformance.h"

enum { kCount = 400, kTag = 6, kLast = 7 };

// Sends `messages` messages, then one with tag kLast; the receiver probes that one first, so that
// all the others are older than what the probe has seen.
static void send_batch(int messages) {
  float* data = floats(kCount);
  for (int at = 0; at < messages; ++at) {
    fill(data, kCount, at);
    MPI_Send(data, kCount, MPI_FLOAT, 1, kTag, comm);
  }
  fill(data, kCount, 99);
  MPI_Send(data, kCount, MPI_FLOAT, 1, kLast, comm);
}

static void look_past(void) {
  MPI_Status status;
  MPI_Probe(0, kLast, comm, &status);
  CHECK(is_status(&status, 0, kLast, kCount));
}

static void expect_last(void) {
  float* data = floats(kCount);
  MPI_Status status;
  MPI_Recv(data, kCount, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  CHECK(holds(data, kCount, 99) && is_status(&status, 0, kLast, kCount));
}

static void many(void) {
  enum { kMessages = 300 };
  float* data = floats(kCount);
  MPI_Status status;
  if (rank == 0) {
    send_batch(kMessages);
    return;
  }
  look_past();
  for (int at = 0; at < kMessages; ++at) {
    if (at % 7 == 0) MPI_Probe(0, MPI_ANY_TAG, comm, &status);
    MPI_Recv(data, kCount, MPI_FLOAT, 0, at % 2 ? kTag : MPI_ANY_TAG, comm, &status);
    CHECK(holds(data, kCount, at) && is_status(&status, 0, kTag, kCount));
  }
  expect_last();
}

static void by_irecv(void) {
  enum { kMessages = 6 };
  float* data = floats(kMessages * kCount);
  MPI_Request requests[kMessages];
  MPI_Status statuses[kMessages];
  if (rank == 0) {
    send_batch(kMessages);
    return;
  }
  look_past();
  for (int at = 0; at < kMessages; ++at) {
    MPI_Irecv(data + at * kCount, kCount, MPI_FLOAT, 0, kTag, comm, &requests[at]);
  }
  MPI_Waitall(kMessages, requests, statuses);
  for (int at = 0; at < kMessages; ++at) {
    CHECK(holds(data + at * kCount, kCount, at) && is_status(&statuses[at], 0, kTag, kCount));
  }
  expect_last();
}

static void by_persistent(void) {
  enum { kMessages = 4 };
  float* data = floats(kCount);
  MPI_Request request;
  MPI_Status status;
  if (rank == 0) {
    send_batch(kMessages);
    return;
  }
  MPI_Recv_init(data, kCount, MPI_FLOAT, 0, kTag, comm, &request);
  look_past();
  for (int at = 0; at < kMessages; ++at) {
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    CHECK(holds(data, kCount, at) && is_status(&status, 0, kTag, kCount));
  }
  MPI_Request_free(&request);
  expect_last();
}

static void by_exchange(void) {
  float *data = floats(kCount), *in = floats(kCount);
  MPI_Status status;
  if (rank == 0) {
    send_batch(2);
    for (int at = 0; at < 2; ++at) {
      MPI_Recv(in, kCount, MPI_FLOAT, 1, 3, comm, &status);
      CHECK(holds(in, kCount, 50 + at));
    }
    return;
  }
  look_past();
  fill(data, kCount, 50);
  MPI_Sendrecv(data, kCount, MPI_FLOAT, 0, 3, in, kCount, MPI_FLOAT, 0, kTag, comm, &status);
  CHECK(holds(in, kCount, 0) && is_status(&status, 0, kTag, kCount));
  fill(data, kCount, 51);
  MPI_Sendrecv_replace(data, kCount, MPI_FLOAT, 0, 3, 0, kTag, comm, &status);
  CHECK(holds(data, kCount, 1) && is_status(&status, 0, kTag, kCount));
  expect_last();
}

static void by_matched_probe(void) {
  enum { kMessages = 4 };
  float* data = floats(kCount);
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
  if (rank == 0) {
    send_batch(kMessages);
    return;
  }
  look_past();
  for (int at = 0; at < kMessages; ++at) {
    MPI_Mprobe(0, MPI_ANY_TAG, comm, &message, &status);
    CHECK(is_status(&status, 0, kTag, kCount));
    MPI_Imrecv(data, kCount, MPI_FLOAT, &message, &request);
    MPI_Wait(&request, &status);
    CHECK(holds(data, kCount, at) && is_status(&status, 0, kTag, kCount));
  }
  expect_last();
}

static void small_ones_too(void) {
  float* data = floats(kCount);
  MPI_Status status;
  MPI_Request request;
  if (rank == 0) {
    for (int at = 0; at < 3; ++at) {
      fill(data, 2, at);
      MPI_Send(data, 2, MPI_FLOAT, 1, kTag, comm);
    }
    send_batch(0);
    return;
  }
  MPI_Recv_init(data, 2, MPI_FLOAT, 0, kTag, comm, &request);
  look_past();
  MPI_Recv(data, 2, MPI_FLOAT, 0, kTag, comm, &status);
  CHECK(holds(data, 2, 0) && is_status(&status, 0, kTag, 2));
  MPI_Start(&request);
  MPI_Wait(&request, &status);
  CHECK(holds(data, 2, 1) && is_status(&status, 0, kTag, 2));
  MPI_Request_free(&request);
  MPI_Irecv(data, 2, MPI_FLOAT, 0, kTag, comm, &request);
  MPI_Wait(&request, &status);
  CHECK(holds(data, 2, 2) && is_status(&status, 0, kTag, 2));
  expect_last();
}

static void into_a_derived_type(void) {
  float* data = floats(2 * kCount);
  MPI_Datatype every_other;
  MPI_Request request;
  MPI_Type_vector(kCount, 1, 2, MPI_FLOAT, &every_other);
  MPI_Type_commit(&every_other);
  if (rank == 0) {
    send_batch(2);
  } else {
    look_past();
    for (int at = 0; at < 2 * kCount; ++at) data[at] = -1;
    MPI_Irecv(data, 1, every_other, 0, kTag, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int at = 0; at < 2 * kCount; ++at) CHECK(data[at] == (float)(at % 2 ? -1 : at / 2));
    MPI_Recv(data, 1, every_other, 0, kTag, comm, MPI_STATUS_IGNORE);
    CHECK(data[4] == 4096 + 2 && data[5] == -1);
    expect_last();
  }
  MPI_Type_free(&every_other);
}

// Completed by the status query, then freed or waited for.
static void status_of_a_probed_one(void) {
  float* data = floats(kCount);
  MPI_Request request;
  MPI_Status status;
  int done = 0;
  if (rank == 0) {
    send_batch(2);
    return;
  }
  look_past();
  for (int at = 0; at < 2; ++at) {
    MPI_Irecv(data, kCount, MPI_FLOAT, 0, kTag, comm, &request);
    for (done = 0; !done;) MPI_Request_get_status(request, &done, &status);
    CHECK(holds(data, kCount, at) && is_status(&status, 0, kTag, kCount));
    if (at == 0) MPI_Request_free(&request);
    if (at == 1) MPI_Wait(&request, &status);
    CHECK(request == MPI_REQUEST_NULL);
  }
  expect_last();
}

// A receive posted before the probe keeps its reservation on the first message.
static void posted_before_the_probe(void) {
  float* data = floats(kCount);
  MPI_Request request;
  MPI_Status status;
  if (rank == 1) MPI_Irecv(data, kCount, MPI_FLOAT, 0, kTag, comm, &request);
  meet();
  if (rank == 0) {
    send_batch(2);
    return;
  }
  look_past();
  MPI_Wait(&request, &status);
  CHECK(holds(data, kCount, 0) && is_status(&status, 0, kTag, kCount));
  MPI_Recv(data, kCount, MPI_FLOAT, 0, kTag, comm, &status);
  CHECK(holds(data, kCount, 1));
  expect_last();
}

static const Case kCases[] = {
    {"many_probed", many},
    {"probed_then_irecv", by_irecv},
    {"probed_then_recv_init", by_persistent},
    {"probed_then_sendrecv", by_exchange},
    {"probed_then_mprobe", by_matched_probe},
    {"small_ones_too", small_ones_too},
    {"into_a_derived_type", into_a_derived_type},
    {"status_of_a_probed_one", status_of_a_probed_one},
    {"posted_before_the_probe", posted_before_the_probe},
};
FAMILY(stash, 2, 0);
