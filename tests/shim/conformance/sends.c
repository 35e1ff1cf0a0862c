// Every mode of sending, and the sizes around which implementations change their minds.
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

enum { kCount = 500 };

typedef int (*BlockingSend)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*NonblockingSend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

// The receive is posted before the send starts, as a ready send demands.
static void send_blocking(BlockingSend call, int seed) {
  float* data = floats(kCount);
  MPI_Status status;
  MPI_Request request;
  if (rank == 1) MPI_Irecv(data, kCount, MPI_FLOAT, 0, seed, comm, &request);
  meet();
  if (rank == 0) {
    fill(data, kCount, seed);
    CHECK(call(data, kCount, MPI_FLOAT, 1, seed, comm) == MPI_SUCCESS);
    fill(data, kCount, 0);  // the buffer is the program's again
  } else {
    MPI_Wait(&request, &status);
    CHECK(holds(data, kCount, seed));
    CHECK(is_status(&status, 0, seed, kCount));
  }
}

static void send_nonblocking(NonblockingSend call, int seed) {
  float* data = floats(kCount);
  MPI_Status status;
  MPI_Request request;
  if (rank == 1) MPI_Irecv(data, kCount, MPI_FLOAT, 0, seed, comm, &request);
  meet();
  if (rank == 0) {
    fill(data, kCount, seed);
    CHECK(call(data, kCount, MPI_FLOAT, 1, seed, comm, &request) == MPI_SUCCESS);
  }
  MPI_Wait(&request, &status);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK(holds(data, kCount, seed));
  if (rank == 1) CHECK(is_status(&status, 0, seed, kCount));
}

static void standard_sends(void) {
  send_blocking(MPI_Send, 1);
  send_nonblocking(MPI_Isend, 2);
}

static void ready_sends(void) {
  send_blocking(MPI_Rsend, 1);
  send_nonblocking(MPI_Irsend, 2);
}

static void synchronous_sends(void) {
  send_blocking(MPI_Ssend, 1);
  send_nonblocking(MPI_Issend, 2);
}

static void buffered_sends(void) {
  int space = 2 * (kCount * (int)sizeof(float) + MPI_BSEND_OVERHEAD);
  void* buffer = malloc((size_t)space);
  MPI_Buffer_attach(buffer, space);
  send_blocking(MPI_Bsend, 1);
  send_nonblocking(MPI_Ibsend, 2);
  MPI_Buffer_detach(&buffer, &space);
  free(buffer);
}

// A synchronous send must not complete because of a mere probe.
static void synchronous_send_waits_for_its_receive(void) {
  float* data = floats(kCount);
  int done = 0;
  if (rank == 0) {
    MPI_Request request;
    fill(data, kCount, 3);
    MPI_Issend(data, kCount, MPI_FLOAT, 1, 7, comm, &request);
    meet();  // the other rank has probed
    for (int at = 0; at < 100; ++at) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      CHECK(!done);
    }
    meet();
    if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Status status;
    MPI_Probe(0, 7, comm, &status);
    CHECK(is_status(&status, 0, 7, kCount));
    meet();
    meet();
    MPI_Recv(data, kCount, MPI_FLOAT, 0, 7, comm, &status);
    CHECK(holds(data, kCount, 3));
  }
}

static void sizes(void) {
  static const int kSizes[] = {0,    1,    17,   18,    19,    20,    1023,   1024,
                               1025, 4096, 8191, 16384, 16385, 65536, 1 << 20};
  const int most = 1 << 20;
  float* data = floats(most);
  for (int at = 0; at < (int)(sizeof kSizes / sizeof kSizes[0]); ++at) {
    const int count = kSizes[at];
    MPI_Status status;
    fill(data, most, rank == 0 ? at + 1 : 0);
    if (rank == 0) {
      MPI_Send(data, count, MPI_FLOAT, 1, at, comm);
    } else {
      MPI_Recv(data, most, MPI_FLOAT, 0, at, comm, &status);
      CHECK(holds(data, count, at + 1));
      CHECK(is_status(&status, 0, at, count));
      // Nothing is written after the message.
      if (count < most) CHECK(data[count] == (float)(count % 4096));
    }
  }
}

static void other_types(void) {
  static const size_t kLengths[] = {73, 76, 77, 80, 81, 89, 97, 129, 1025, 4097, 65537};
  char* data = bytes(1 << 17);
  for (int at = 0; at < (int)(sizeof kLengths / sizeof kLengths[0]); ++at) {
    const int length = (int)kLengths[at];
    MPI_Status status;
    int count = 0;
    memset(data, rank == 0 ? at + 1 : 0, 1 << 17);
    if (rank == 0) {
      MPI_Send(data, length, MPI_BYTE, 1, at, comm);
    } else {
      MPI_Recv(data, 1 << 17, MPI_BYTE, 0, at, comm, &status);
      MPI_Get_count(&status, MPI_BYTE, &count);
      CHECK(count == length && data[0] == at + 1 && data[length - 1] == at + 1);
      CHECK(data[length] == 0);
    }
  }
  double* doubles = bytes(100 * sizeof(double));
  if (rank == 0) doubles[99] = 2.5;
  if (rank == 0) MPI_Send(doubles, 100, MPI_DOUBLE, 1, 99, comm);
  if (rank == 1) MPI_Recv(doubles, 100, MPI_DOUBLE, 0, 99, comm, MPI_STATUS_IGNORE);
  CHECK(doubles[99] == 2.5);
}

static void self_sends(void) {
  float *out = floats(kCount), *in = floats(kCount);
  MPI_Request requests[2];
  MPI_Status statuses[2];
  fill(out, kCount, 5);
  MPI_Irecv(in, kCount, MPI_FLOAT, rank, 1, comm, &requests[0]);
  MPI_Isend(out, kCount, MPI_FLOAT, rank, 1, comm, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  CHECK(holds(in, kCount, 5) && is_status(&statuses[0], rank, 1, kCount));
  fill(out, kCount, 6);
  MPI_Sendrecv(out, kCount, MPI_FLOAT, 0, 2, in, kCount, MPI_FLOAT, 0, 2, MPI_COMM_SELF, statuses);
  CHECK(holds(in, kCount, 6) && is_status(&statuses[0], 0, 2, kCount));
  MPI_Isend(out, kCount, MPI_FLOAT, rank, 3, comm, &requests[0]);
  MPI_Probe(rank, 3, comm, statuses);
  CHECK(is_status(&statuses[0], rank, 3, kCount));
  MPI_Recv(in, kCount, MPI_FLOAT, rank, 3, comm, statuses);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  CHECK(holds(in, kCount, 6));
}

static void no_process(void) {
  float* data = floats(kCount);
  MPI_Status status;
  MPI_Request request;
  MPI_Message message;
  int flag = 0;
  fill(data, kCount, 1);
  CHECK(MPI_Send(data, kCount, MPI_FLOAT, MPI_PROC_NULL, 0, comm) == MPI_SUCCESS);
  MPI_Recv(data, kCount, MPI_FLOAT, MPI_PROC_NULL, 0, comm, &status);
  CHECK(is_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0));
  MPI_Irecv(data, kCount, MPI_FLOAT, MPI_PROC_NULL, 0, comm, &request);
  MPI_Wait(&request, &status);
  CHECK(is_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0));
  MPI_Probe(MPI_PROC_NULL, 0, comm, &status);
  CHECK(is_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0));
  MPI_Iprobe(MPI_PROC_NULL, 0, comm, &flag, &status);
  CHECK(flag && is_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0));
  MPI_Mprobe(MPI_PROC_NULL, 0, comm, &message, &status);
  CHECK(message == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(data, kCount, MPI_FLOAT, &message, &status);
  CHECK(message == MPI_MESSAGE_NULL && is_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0));
  CHECK(holds(data, kCount, 1));
}

static void many_in_flight(void) {
  enum { kMessages = 200 };
  float* data = floats(kMessages * kCount);
  MPI_Request requests[kMessages];
  for (int at = 0; at < kMessages; ++at) {
    float* one = data + at * kCount;
    if (rank == 0) fill(one, kCount, at);
    if (rank == 0) MPI_Isend(one, kCount, MPI_FLOAT, 1, 0, comm, &requests[at]);
    if (rank == 1) MPI_Irecv(one, kCount, MPI_FLOAT, 0, 0, comm, &requests[at]);
  }
  MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
  for (int at = 0; at < kMessages; ++at) CHECK(holds(data + at * kCount, kCount, at));
}

// A program may send from a buffer that it frees after the send is complete, and never ask.
static void freed_send(void) {
  float* data = floats(kCount);
  MPI_Request request;
  if (rank == 0) {
    fill(data, kCount, 4);
    MPI_Isend(data, kCount, MPI_FLOAT, 1, 0, comm, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Isend(data, 4, MPI_FLOAT, 1, 0, comm, &request);
    MPI_Request_free(&request);
  } else {
    MPI_Recv(data, kCount, MPI_FLOAT, 0, 0, comm, MPI_STATUS_IGNORE);
    CHECK(holds(data, kCount, 4));
    MPI_Recv(data, 4, MPI_FLOAT, 0, 0, comm, MPI_STATUS_IGNORE);
  }
  meet();
}

static const Case kCases[] = {
    {"standard_sends", standard_sends},
    {"ready_sends", ready_sends},
    {"synchronous_sends", synchronous_sends},
    {"buffered_sends", buffered_sends},
    {"synchronous_send_waits_for_its_receive", synchronous_send_waits_for_its_receive},
    {"sizes", sizes},
    {"other_types", other_types},
    {"self_sends", self_sends},
    {"no_process", no_process},
    {"many_in_flight", many_in_flight},
    {"freed_send", freed_send},
};
FAMILY(sends, 2, 0);
