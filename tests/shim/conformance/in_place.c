// Receives that share a buffer, an array or nothing, and what the program frees before they end.
// If bytes are shared, which MPI does not allow and programs do, the messages agree on them.
#include "conformance.h"

enum { kCount = 600, kColumns = 12, kRows = 60 };

static void send_filled(int count, int seed, int tag) {
  float* data = floats(count);
  fill(data, count, seed);
  MPI_Send(data, count, MPI_FLOAT, 1, tag, comm);
}

// As bandwidth tests do, with messages of several lengths, completed from the last to the first.
static void window_into_one_buffer(void) {
  enum { kWindow = 64, kRounds = 3 };
  float* data = floats(kCount);
  MPI_Request requests[kWindow];
  MPI_Status status;
  for (int round = 0; round < kRounds; ++round) {
    for (int at = 0; at < kWindow; ++at) {
      if (rank == 1) MPI_Irecv(data, kCount, MPI_FLOAT, 0, at, comm, &requests[at]);
    }
    meet();
    for (int at = 0; at < kWindow && rank == 0; ++at) send_filled(kCount - at, round + 1, at);
    for (int at = kWindow - 1; at >= 0 && rank == 1; --at) {
      MPI_Wait(&requests[at], &status);
      CHECK(is_status(&status, 0, at, kCount - at));
    }
    if (rank == 1) CHECK(holds(data, kCount, round + 1));
    meet();
  }
}

static int is_column(const float* array, int column, int seed) {
  for (int row = 0; row < kRows; ++row) {
    if (array[row * kColumns + column] != (float)(seed * 4096 + row)) return 0;
  }
  return 1;
}

// Columns share no byte: each is there, whole, as soon as its own receive is complete.
static void interleaved_columns(void) {
  float* array = floats(kRows * kColumns);
  MPI_Request requests[kColumns];
  MPI_Datatype column;
  MPI_Type_vector(kRows, 1, kColumns, MPI_FLOAT, &column);
  MPI_Type_commit(&column);
  for (int at = 0; at < kColumns && rank == 1; ++at) {
    MPI_Irecv(array + at, 1, column, 0, at, comm, &requests[at]);
  }
  meet();
  for (int at = 0; at < kColumns && rank == 0; ++at) send_filled(kRows, at + 1, at);
  for (int at = 0; at < kColumns && rank == 1; ++at) {
    const int which = at * 5 % kColumns;
    MPI_Wait(&requests[which], MPI_STATUS_IGNORE);
    CHECK(is_column(array, which, which + 1));
  }
  MPI_Type_free(&column);
}

// Two columns in one message: elements that interleave with each other and with the rest.
static void elements_that_interleave(void) {
  float* array = floats(kRows * kColumns);
  MPI_Request requests[kColumns / 2];
  MPI_Datatype column, narrow;
  MPI_Type_vector(kRows, 1, kColumns, MPI_FLOAT, &column);
  MPI_Type_create_resized(column, 0, sizeof(float), &narrow);
  MPI_Type_free(&column);
  MPI_Type_commit(&narrow);
  for (int at = 0; at < kColumns / 2 && rank == 1; ++at) {
    MPI_Irecv(array + 2 * at, 2, narrow, 0, at, comm, &requests[at]);
  }
  meet();
  for (int at = 0; at < kColumns / 2 && rank == 0; ++at) send_filled(2 * kRows, at + 1, at);
  for (int at = kColumns / 2 - 1; at >= 0 && rank == 1; --at) {
    MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
    CHECK(is_column(array, 2 * at, at + 1));
    CHECK(array[2 * at + 1] == (float)((at + 1) * 4096 + kRows));
    CHECK(array[(kRows - 1) * kColumns + 2 * at + 1] == (float)((at + 1) * 4096 + 2 * kRows - 1));
  }
  MPI_Type_free(&narrow);
}

// Memory that belongs to one of the overlapping receives alone is filled when that one is complete.
static void partly_overlapping_buffers(void) {
  float* data = floats(2 * kCount);
  MPI_Request requests[3];
  fill(data, 2 * kCount, rank == 0 ? 1 : 9);
  for (int at = 0; at < 3 && rank == 1; ++at) {
    MPI_Irecv(data + at * kCount / 2, kCount, MPI_FLOAT, 0, at, comm, &requests[at]);
  }
  meet();
  for (int at = 2; at >= 0 && rank == 0; --at) {
    MPI_Send(data + at * kCount / 2, kCount, MPI_FLOAT, 1, at, comm);
  }
  if (rank == 0) return;
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
  CHECK(data[2 * kCount - 1] == (float)(4096 + 2 * kCount - 1));
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  CHECK(holds(data, 2 * kCount, 1));
}

// The message of one receive survives that another receive into its buffer is cancelled.
static void cancelled_neighbour(void) {
  float* data = floats(kCount);
  MPI_Request never, request;
  MPI_Status status;
  int cancelled = 0;
  if (rank == 0) {
    send_filled(kCount, 3, 1);
    meet();
    return;
  }
  MPI_Irecv(data, kCount, MPI_FLOAT, 0, 99, comm, &never);
  MPI_Irecv(data, kCount, MPI_FLOAT, 0, 1, comm, &request);
  MPI_Wait(&request, &status);
  CHECK(is_status(&status, 0, 1, kCount));
  MPI_Cancel(&never);
  MPI_Wait(&never, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(cancelled && holds(data, kCount, 3));
  meet();
}

// Raw messages whose lengths look like a compressed one's, into bytes and into every other byte.
static void shorter_than_the_buffer(void) {
  enum { kBytes = 900 };
  unsigned char* data = bytes(2 * kBytes);
  MPI_Datatype every_other;
  MPI_Status status;
  int received = 0;
  MPI_Type_vector(kBytes, 1, 2, MPI_BYTE, &every_other);
  MPI_Type_commit(&every_other);
  for (int length = 0; length < kBytes; length += length < 40 ? 1 : 41) {
    for (int at = 0; at < 2 * kBytes; ++at) data[at] = (unsigned char)(rank == 0 ? at * 7 : 255);
    if (rank == 0) MPI_Send(data, length, MPI_BYTE, 1, 1, comm);
    if (rank == 0) MPI_Send(data, length, MPI_BYTE, 1, 2, comm);
    if (rank == 0) continue;
    MPI_Recv(data, kBytes, MPI_BYTE, 0, 1, comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &received);
    CHECK(received == length && data[length] == 255);
    for (int at = 0; at < length; ++at) CHECK(data[at] == (unsigned char)(at * 7));
    for (int at = 0; at < length; ++at) data[at] = 255;
    MPI_Recv(data, 1, every_other, 0, 2, comm, &status);
    MPI_Get_elements(&status, MPI_BYTE, &received);
    CHECK(received == length);
    for (int at = 0; at < 2 * kBytes; ++at) {
      const int arrived = at % 2 == 0 && at / 2 < length;
      CHECK(data[at] == (unsigned char)(arrived ? at / 2 * 7 : 255));
    }
  }
  MPI_Type_free(&every_other);
}

// The handle of a freed type may be the next type's.
static void type_freed_while_pending(void) {
  float* data = floats(2 * kCount);
  MPI_Datatype every_other, pairs;
  MPI_Request request;
  if (rank == 1) {
    MPI_Type_vector(kCount, 1, 2, MPI_FLOAT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Irecv(data, 1, every_other, 0, 1, comm, &request);
    MPI_Type_free(&every_other);
    MPI_Type_vector(kCount / 2, 2, 4, MPI_FLOAT, &pairs);
    MPI_Type_commit(&pairs);
  }
  meet();
  if (rank == 0) {
    send_filled(kCount, 4, 1);
    return;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int at = 0; at < 2 * kCount; ++at) {
    CHECK(data[at] == (at % 2 ? 0 : (float)(4 * 4096 + at / 2)));
  }
  MPI_Type_free(&pairs);
}

// The program learns from a later message that a receive which it freed is complete.
static void buffer_of_a_freed_receive(void) {
  float *data = floats(kCount), *other = floats(kCount);
  MPI_Request request;
  for (int round = 0; round < 10; ++round) {
    if (rank == 1) MPI_Irecv(data, kCount, MPI_FLOAT, 0, 1, comm, &request);
    if (rank == 1) MPI_Request_free(&request);
    meet();
    if (rank == 0) {
      for (int tag = 1; tag <= 3; ++tag) send_filled(kCount, tag, tag);
      continue;
    }
    MPI_Recv(other, kCount, MPI_FLOAT, 0, 2, comm, MPI_STATUS_IGNORE);
    MPI_Irecv(data, kCount, MPI_FLOAT, 0, 3, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(holds(data, kCount, 3) && holds(other, kCount, 2));
  }
}

// A matched receive into the buffer of one that is pending, delivered in either order.
static void matched_into_a_pending_one(void) {
  float* data = floats(kCount);
  MPI_Request request;
  MPI_Message message;
  MPI_Status status;
  if (rank == 0) {
    send_filled(kCount, 8, 1);
    meet();
    send_filled(kCount, 8, 2);
    return;
  }
  MPI_Irecv(data, kCount, MPI_FLOAT, 0, 2, comm, &request);
  MPI_Mprobe(0, 1, comm, &message, &status);
  MPI_Mrecv(data, kCount, MPI_FLOAT, &message, &status);
  CHECK(is_status(&status, 0, 1, kCount));
  meet();
  MPI_Wait(&request, &status);
  CHECK(is_status(&status, 0, 2, kCount) && holds(data, kCount, 8));
}

static const Case kCases[] = {
    {"window_into_one_buffer", window_into_one_buffer},
    {"interleaved_columns", interleaved_columns},
    {"elements_that_interleave", elements_that_interleave},
    {"partly_overlapping_buffers", partly_overlapping_buffers},
    {"cancelled_neighbour", cancelled_neighbour},
    {"shorter_than_the_buffer", shorter_than_the_buffer},
    {"type_freed_while_pending", type_freed_while_pending},
    {"buffer_of_a_freed_receive", buffer_of_a_freed_receive},
    {"matched_into_a_pending_one", matched_into_a_pending_one},
};
FAMILY(in_place, 2, 0);
