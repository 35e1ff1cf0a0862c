// Receives of every kind, and the combined send-receives.
#include "conformance.h"

enum { kCount = 500, kLarge = 1 << 18 };

static void longer_buffer_than_message(void) {
  float* data = floats(2 * kCount);
  MPI_Status status;
  fill(data, 2 * kCount, rank == 0 ? 1 : 2);
  if (rank == 0) {
    MPI_Send(data, kCount, MPI_FLOAT, 1, 3, comm);
  } else {
    int count = 0;
    MPI_Recv(data, 2 * kCount, MPI_FLOAT, 0, 3, comm, &status);
    CHECK(holds(data, kCount, 1));
    CHECK(data[kCount] == (float)(2 * 4096 + kCount));
    CHECK(is_status(&status, 0, 3, kCount));
    MPI_Get_elements(&status, MPI_BYTE, &count);
    CHECK(count == kCount * (int)sizeof(float));
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK(count == kCount / 2);
  }
}

static void exchange(void) {
  float *out = floats(kLarge), *in = floats(kLarge);
  const int other = 1 - rank;
  MPI_Status status;
  for (int count = 1; count <= kLarge; count *= 8) {
    fill(out, count, rank + 1);
    MPI_Sendrecv(out, count, MPI_FLOAT, other, 1, in, kLarge, MPI_FLOAT, other, 1, comm, &status);
    CHECK(holds(in, count, other + 1) && is_status(&status, other, 1, count));
  }
  // One side eligible, the other not.
  const int count = rank == 0 ? kCount : 2;
  MPI_Sendrecv(out, count, MPI_FLOAT, other, 2, in, kCount, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG,
               comm, &status);
  CHECK(is_status(&status, other, 2, rank == 0 ? 2 : kCount));
}

static void exchange_with_no_process(void) {
  float *out = floats(kCount), *in = floats(kCount);
  const int to = rank == 0 ? 1 : MPI_PROC_NULL, from = rank == 0 ? MPI_PROC_NULL : 0;
  MPI_Status status;
  fill(out, kCount, 8);
  MPI_Sendrecv(out, kCount, MPI_FLOAT, to, 1, in, kCount, MPI_FLOAT, from, 1, comm, &status);
  if (rank == 0) CHECK(is_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0));
  if (rank == 1) CHECK(holds(in, kCount, 8) && is_status(&status, 0, 1, kCount));
  MPI_Sendrecv_replace(out, kCount, MPI_FLOAT, to, 1, from, 1, comm, &status);
  CHECK(holds(out, kCount, 8));
}

static void replace(void) {
  static const int kCounts[] = {0, 3, kCount, kLarge};
  float* data = floats(kLarge);
  const int other = 1 - rank;
  MPI_Status status;
  for (int at = 0; at < 4; ++at) {
    fill(data, kLarge, rank + 1);
    MPI_Sendrecv_replace(data, kCounts[at], MPI_FLOAT, other, at, other, at, comm, &status);
    CHECK(holds(data, kCounts[at], other + 1) && is_status(&status, other, at, kCounts[at]));
  }
}

// A shorter message replaces the beginning only.
static void replace_by_a_shorter_one(void) {
  float* data = floats(kCount);
  MPI_Status status;
  fill(data, kCount, rank + 1);
  if (rank == 0) {
    MPI_Sendrecv_replace(data, kCount, MPI_FLOAT, 1, 0, 1, 0, comm, &status);
    CHECK(holds(data, 300, 2) && is_status(&status, 1, 0, 300));
    CHECK(data[300] == (float)(4096 + 300));
  } else {
    float* in = floats(kCount);
    MPI_Sendrecv(data, 300, MPI_FLOAT, 0, 0, in, kCount, MPI_FLOAT, 0, 0, comm, &status);
    CHECK(holds(in, kCount, 1));
  }
}

static void replace_derived(void) {
  enum { kBlocks = 100 };
  float* data = floats(2 * kBlocks);
  const int other = 1 - rank;
  MPI_Datatype every_other;
  MPI_Type_vector(kBlocks, 1, 2, MPI_FLOAT, &every_other);
  MPI_Type_commit(&every_other);
  for (int at = 0; at < 2 * kBlocks; ++at) data[at] = (float)(at % 2 ? -1 : 1000 * rank + at);
  MPI_Sendrecv_replace(data, 1, every_other, other, 0, other, 0, comm, MPI_STATUS_IGNORE);
  MPI_Type_free(&every_other);
  for (int at = 0; at < 2 * kBlocks; ++at) {
    CHECK(data[at] == (float)(at % 2 ? -1 : 1000 * other + at));
  }
}

// Bandwidth tests post many receives into one and the same buffer.
static void one_buffer_for_all(void) {
  enum { kWindow = 64, kRounds = 4 };
  float* data = floats(kLarge);
  MPI_Request requests[kWindow];
  fill(data, kLarge, rank == 0 ? 9 : 0);
  for (int count = 20; count <= kLarge; count *= 20) {
    for (int round = 0; round < kRounds; ++round) {
      for (int at = 0; at < kWindow; ++at) {
        if (rank == 0) MPI_Isend(data, count, MPI_FLOAT, 1, 0, comm, &requests[at]);
        if (rank == 1) MPI_Irecv(data, count, MPI_FLOAT, 0, 0, comm, &requests[at]);
      }
      MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
      CHECK(holds(data, count, 9));
    }
  }
}

static void order_of_one_sender(void) {
  enum { kMessages = 60 };
  float* data = floats(kCount);
  for (int at = 0; at < kMessages; ++at) {
    // Sizes and types on both sides of every threshold, in one sequence.
    const int count = at % 3 == 0 ? 2 : at % 3 == 1 ? 30 : kCount;
    MPI_Status status;
    fill(data, kCount, rank == 0 ? at : 0);
    if (rank == 0) MPI_Send(data, count, MPI_FLOAT, 1, at % 5, comm);
    if (rank == 0) continue;
    MPI_Recv(data, kCount, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    CHECK(is_status(&status, 0, at % 5, count) && holds(data, count, at));
  }
}

static void cancelled_receive(void) {
  float* data = floats(kCount);
  MPI_Request request;
  MPI_Status status;
  int cancelled = 0;
  fill(data, kCount, 7);
  MPI_Irecv(data, kCount, MPI_FLOAT, 1 - rank, 5, comm, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(cancelled && request == MPI_REQUEST_NULL && holds(data, kCount, 7));
  meet();
  // The next message with that tag belongs to the next receive.
  if (rank == 0) MPI_Send(data, kCount, MPI_FLOAT, 1, 5, comm);
  if (rank == 1) {
    fill(data, kCount, 1);
    MPI_Recv(data, kCount, MPI_FLOAT, 0, 5, comm, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(!cancelled && holds(data, kCount, 7) && is_status(&status, 0, 5, kCount));
  }
}

// A request freed while its receive runs: the message arrives all the same, while other calls run.
static void freed_receive(void) {
  volatile float* data = floats(kCount);
  int flag = 0;
  MPI_Request request;
  if (rank == 1) {
    MPI_Irecv((float*)data, kCount, MPI_FLOAT, 0, 5, comm, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
  }
  meet();
  if (rank == 0) {
    fill((float*)data, kCount, 7);
    MPI_Send((float*)data, kCount, MPI_FLOAT, 1, 5, comm);
    MPI_Send(&flag, 1, MPI_INT, 1, 6, comm);
  } else {
    MPI_Recv(&flag, 1, MPI_INT, 0, 6, comm, MPI_STATUS_IGNORE);
    for (int at = 0; at < 100000 && data[kCount - 1] == 0; ++at) {
      MPI_Iprobe(0, 9, comm, &flag, MPI_STATUS_IGNORE);
    }
    CHECK(holds((float*)data, kCount, 7));
  }
}

static const Case kCases[] = {
    {"longer_buffer_than_message", longer_buffer_than_message},
    {"exchange", exchange},
    {"exchange_with_no_process", exchange_with_no_process},
    {"replace", replace},
    {"replace_by_a_shorter_one", replace_by_a_shorter_one},
    {"replace_derived", replace_derived},
    {"one_buffer_for_all", one_buffer_for_all},
    {"order_of_one_sender", order_of_one_sender},
    {"cancelled_receive", cancelled_receive},
    {"freed_receive", freed_receive},
};
FAMILY(receives, 2, 0);
