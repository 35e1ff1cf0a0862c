// Buffered sends: what a buffer holds, when it is the program's again, and buffers of a
// communicator or of the MPI itself.
#include <stdlib.h>

#include "conformance.h"

enum { kCount = 400, kMessages = 5 };

static int space_for(int messages) {
  return messages * (kCount * (int)sizeof(float) + MPI_BSEND_OVERHEAD);
}

static void send_buffered(int messages) {
  float* data = floats(kCount);
  for (int at = 0; at < messages; ++at) {
    MPI_Request request;
    fill(data, kCount, at + 1);
    if (at % 2 == 0) MPI_Bsend(data, kCount, MPI_FLOAT, 1, at, comm);
    if (at % 2 == 1) {
      MPI_Ibsend(data, kCount, MPI_FLOAT, 1, at, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    fill(data, kCount, 0);
  }
}

static void receive_buffered(int messages) {
  float* data = floats(kCount);
  for (int at = messages - 1; at >= 0; --at) {
    MPI_Status status;
    MPI_Recv(data, kCount, MPI_FLOAT, 0, at, comm, &status);
    CHECK(holds(data, kCount, at + 1) && is_status(&status, 0, at, kCount));
  }
}

// As many bytes as MPI says that they need, and no more.
static void just_enough(void) {
  for (int messages = 1; messages <= kMessages; ++messages) {
    int space = space_for(messages);
    void *buffer = malloc((size_t)space), *detached = NULL;
    const void* attached = buffer;
    MPI_Buffer_attach(buffer, space);
    if (rank == 0) send_buffered(messages);
    if (rank == 1) receive_buffered(messages);
    MPI_Buffer_detach(&detached, &space);
    CHECK(detached == attached && space == space_for(messages));
    free(buffer);
  }
}

// Buffers a message that no MPI can have sent by itself before the call is over.
static void too_little(void) {
  enum { kLarge = 1 << 20 };
  int space = space_for(1);
  void* buffer = malloc((size_t)space);
  float* data = floats(kLarge);
  MPI_Buffer_attach(buffer, space);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(MPI_Bsend(data, kLarge, MPI_FLOAT, 1 - rank, 0, comm) != MPI_SUCCESS);
  MPI_Buffer_detach(&buffer, &space);
  free(buffer);
}

// Detaching waits until every message is on its way: the memory may go then.
static void detached_and_gone(void) {
  int space = space_for(kMessages);
  if (rank == 0) {
    unsigned char* buffer = malloc((size_t)space);
    MPI_Buffer_attach(buffer, space);
    send_buffered(kMessages);
    meet();  // the receiver begins
    MPI_Buffer_detach(&buffer, &space);
    for (int at = 0; at < space; ++at) buffer[at] = 0xEE;
    free(buffer);
  } else {
    meet();
    receive_buffered(kMessages);
  }
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)

static void wait_for(MPI_Request* request) { MPI_Wait(request, MPI_STATUS_IGNORE); }

// The buffer stays, and is empty after each flush.
static void flushed(void) {
  int space = space_for(1);
  void* buffer = malloc((size_t)space);
  MPI_Request request;
  MPI_Buffer_attach(buffer, space);
  for (int round = 0; round < 4; ++round) {
    if (rank == 0) send_buffered(1);
    if (round % 2) MPI_Buffer_iflush(&request);
    if (rank == 1) receive_buffered(1);
    if (round % 2) wait_for(&request);
    if (round % 2 == 0) MPI_Buffer_flush();
  }
  MPI_Buffer_detach(&buffer, &space);
  free(buffer);
}

static void of_a_communicator(void) {
  int space = space_for(kMessages);
  void *buffer = malloc((size_t)space), *detached = NULL;
  MPI_Request request;
  MPI_Comm_attach_buffer(comm, buffer, space);
  for (int round = 0; round < 2; ++round) {
    if (rank == 0) send_buffered(kMessages);
    if (round == 1) MPI_Comm_iflush_buffer(comm, &request);
    if (rank == 1) receive_buffered(kMessages);
    if (round == 1) wait_for(&request);
    if (round == 0) MPI_Comm_flush_buffer(comm);
  }
  MPI_Comm_detach_buffer(comm, &detached, &space);
  CHECK(detached == buffer);
  free(buffer);
}

static void automatic(void) {
  void* detached = NULL;
  int space = 0;
  MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
  if (rank == 0) send_buffered(kMessages);
  if (rank == 1) receive_buffered(kMessages);
  MPI_Comm_detach_buffer(comm, &detached, &space);
  CHECK(detached == MPI_BUFFER_AUTOMATIC);
}
#endif

// A buffered send before a standard one is received before it; a probe sees both.
static void in_order(void) {
  int space = space_for(1);
  void* buffer = malloc((size_t)space);
  float* data = floats(kCount);
  MPI_Status status;
  MPI_Buffer_attach(buffer, space);
  for (int at = 0; at < 6 && rank == 0; ++at) {
    fill(data, kCount, at);
    if (at == 2) MPI_Bsend(data, kCount, MPI_FLOAT, 1, 3, comm);
    if (at != 2) MPI_Send(data, kCount - at, MPI_FLOAT, 1, 3, comm);
  }
  for (int at = 0; at < 6 && rank == 1; ++at) {
    const int count = at == 2 ? kCount : kCount - at;
    if (at % 2 == 0) MPI_Probe(0, MPI_ANY_TAG, comm, &status);
    if (at % 2 == 0) CHECK(is_status(&status, 0, 3, count));
    MPI_Recv(data, kCount, MPI_FLOAT, 0, 3, comm, &status);
    CHECK(holds(data, count, at) && is_status(&status, 0, 3, count));
  }
  MPI_Buffer_detach(&buffer, &space);
  free(buffer);
}

static const Case kCases[] = {
    {"buffer_just_large_enough", just_enough},
    {"buffer_too_small", too_little},
    {"buffer_detached_and_gone", detached_and_gone},
    {"buffered_in_order", in_order},
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    {"buffer_flushed", flushed},
    {"buffer_of_a_communicator", of_a_communicator},
    {"buffer_automatic", automatic},
#endif
};
FAMILY(buffers, 2, 0);
