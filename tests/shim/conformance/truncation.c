// Messages longer than their receive: an error of class MPI_ERR_TRUNCATE, and nothing written past
// the buffer's end.
#include <string.h>

#include "conformance.h"

enum { kCount = 500, kCapacities = 4 };

// In floats: a few bytes, less than any header, less than the message.
static const int kCapacity[kCapacities] = {1, 10, 25, 400};

static int handler_calls;

static void count_calls(MPI_Comm* which, int* code, ...) {
  (void)which;
  (void)code;
  ++handler_calls;
}

static int is_of_class(int code, int wanted) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class == wanted;
}

static int is_truncation(int code) { return is_of_class(code, MPI_ERR_TRUNCATE); }

static float* guarded(void) {
  float* data = floats(kCount);
  fill(data, kCount, 3);
  return data;
}

static int behind_is_intact(const float* data, int capacity) {
  for (int at = capacity; at < kCount; ++at) {
    if (data[at] != (float)(3 * 4096 + at)) return 0;
  }
  return 1;
}

static void send_long(int tag) {
  float* data = floats(kCount);
  fill(data, kCount, 1);
  MPI_Send(data, kCount, MPI_FLOAT, 1, tag, comm);
}

// Each receive is followed by one that fits, to show that nothing was left behind.
static void expect_next(int tag) {
  float* data = floats(kCount);
  MPI_Status status;
  CHECK(MPI_Recv(data, kCount, MPI_FLOAT, 0, tag, comm, &status) == MPI_SUCCESS);
  CHECK(holds(data, kCount, 1) && is_status(&status, 0, tag, kCount));
}

typedef int (*Receive)(float* data, int capacity, MPI_Status* status);

// MPICH raises errors of some completions on MPI_COMM_WORLD or MPI_COMM_SELF.
static void return_errors(MPI_Errhandler elsewhere) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, elsewhere);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, elsewhere);
}

static void for_each_capacity(Receive receive) {
  return_errors(MPI_ERRORS_RETURN);
  for (int at = 0; at < kCapacities; ++at) {
    if (rank == 0) {
      send_long(at);
      send_long(at);
      continue;
    }
    float* data = guarded();
    MPI_Status status;
    meet();
    CHECK(is_truncation(receive(data, kCapacity[at], &status)));
    CHECK(behind_is_intact(data, kCapacity[at]));
    expect_next(at);
  }
  for (int at = 0; at < kCapacities && rank == 0; ++at) meet();
  return_errors(MPI_ERRORS_ARE_FATAL);
}

static int next_tag;

static int by_recv(float* data, int capacity, MPI_Status* status) {
  return MPI_Recv(data, capacity, MPI_FLOAT, 0, next_tag++, comm, status);
}

static int by_wait(float* data, int capacity, MPI_Status* status) {
  MPI_Request request;
  MPI_Irecv(data, capacity, MPI_FLOAT, 0, next_tag++, comm, &request);
  const int error = MPI_Wait(&request, status);
  CHECK(request == MPI_REQUEST_NULL);
  return error;
}

static int by_test(float* data, int capacity, MPI_Status* status) {
  MPI_Request request;
  int done = 0, error = MPI_SUCCESS;
  MPI_Irecv(data, capacity, MPI_FLOAT, 0, next_tag++, comm, &request);
  while (!done && error == MPI_SUCCESS) error = MPI_Test(&request, &done, status);
  return error;
}

static int by_waitall(float* data, int capacity, MPI_Status* status) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  memset(statuses, 0, sizeof statuses);  // MPICH writes no error for the null one
  (void)status;
  MPI_Irecv(data, capacity, MPI_FLOAT, 0, next_tag++, comm, &requests[1]);
  CHECK(is_of_class(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS));
  CHECK(requests[1] == MPI_REQUEST_NULL && statuses[0].MPI_ERROR == MPI_SUCCESS);
  return statuses[1].MPI_ERROR;
}

static int by_waitsome(float* data, int capacity, MPI_Status* status) {
  MPI_Request request;
  int done = 0, index = -1;
  MPI_Irecv(data, capacity, MPI_FLOAT, 0, next_tag++, comm, &request);
  CHECK(is_of_class(MPI_Waitsome(1, &request, &done, &index, status), MPI_ERR_IN_STATUS));
  CHECK(done == 1 && index == 0 && request == MPI_REQUEST_NULL);
  return status->MPI_ERROR;
}

static int by_waitany(float* data, int capacity, MPI_Status* status) {
  MPI_Request request;
  int index = -1;
  MPI_Irecv(data, capacity, MPI_FLOAT, 0, next_tag++, comm, &request);
  const int error = MPI_Waitany(1, &request, &index, status);
  CHECK(index == 0);
  return error;
}

static int by_probe(float* data, int capacity, MPI_Status* status) {
  MPI_Probe(0, next_tag, comm, status);
  CHECK(is_status(status, 0, next_tag, kCount));
  return by_recv(data, capacity, status);
}

static int by_mprobe(float* data, int capacity, MPI_Status* status) {
  MPI_Message message;
  MPI_Mprobe(0, next_tag++, comm, &message, status);
  return MPI_Mrecv(data, capacity, MPI_FLOAT, &message, status);
}

static void with_receive(Receive receive) {
  next_tag = 0;
  for_each_capacity(receive);
}

static void recv_truncates(void) { with_receive(by_recv); }
static void wait_truncates(void) { with_receive(by_wait); }
static void test_truncates(void) { with_receive(by_test); }
static void waitall_truncates(void) { with_receive(by_waitall); }
static void waitsome_truncates(void) { with_receive(by_waitsome); }
static void waitany_truncates(void) { with_receive(by_waitany); }
static void probed_truncates(void) { with_receive(by_probe); }
static void matched_truncates(void) { with_receive(by_mprobe); }

// The error reaches the program's own handler.
static void handler_is_called(void) {
  MPI_Errhandler handler;
  float* data = guarded();
  MPI_Request request;
  if (rank == 0) {
    send_long(0);
    send_long(0);
    return;
  }
  handler_calls = 0;
  MPI_Comm_create_errhandler(count_calls, &handler);
  return_errors(MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, handler);
  CHECK(is_truncation(MPI_Recv(data, 400, MPI_FLOAT, 0, 0, comm, MPI_STATUS_IGNORE)));
  CHECK(handler_calls == 1);
  MPI_Irecv(data, 400, MPI_FLOAT, 0, 0, comm, &request);
  CHECK(is_truncation(MPI_Wait(&request, MPI_STATUS_IGNORE)));
  CHECK(handler_calls == 2 && behind_is_intact(data, 400));
  MPI_Errhandler_free(&handler);
  return_errors(MPI_ERRORS_ARE_FATAL);
}

static float* handled_into;

static void receive_again(MPI_Comm* which, int* code, ...) {
  (void)code;
  ++handler_calls;
  MPI_Recv(handled_into, kCount, MPI_FLOAT, 0, 2, *which, MPI_STATUS_IGNORE);
}

// A handler may call MPI, and receive what comes next.
static void handler_receives_again(void) {
  MPI_Errhandler handler;
  MPI_Request request;
  if (rank == 0) {
    send_long(1);
    send_long(2);
    return;
  }
  handler_calls = 0;
  handled_into = floats(kCount);
  MPI_Comm_create_errhandler(receive_again, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Irecv(guarded(), 400, MPI_FLOAT, 0, 1, comm, &request);
  CHECK(is_truncation(MPI_Wait(&request, MPI_STATUS_IGNORE)));
  CHECK(handler_calls == 1 && holds(handled_into, kCount, 1));
  MPI_Errhandler_free(&handler);
}

static void into_a_derived_type(void) {
  float* data = guarded();
  MPI_Datatype type;
  MPI_Type_vector(100, 1, 2, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  return_errors(MPI_ERRORS_RETURN);
  if (rank == 0) {
    send_long(0);
  } else {
    CHECK(is_truncation(MPI_Recv(data, 1, type, 0, 0, comm, MPI_STATUS_IGNORE)));
    CHECK(data[1] == 3 * 4096 + 1 && behind_is_intact(data, 200));
  }
  MPI_Type_free(&type);
  return_errors(MPI_ERRORS_ARE_FATAL);
}

static const Case kCases[] = {
    {"recv_truncates", recv_truncates},
    {"wait_truncates", wait_truncates},
    {"test_truncates", test_truncates},
    {"waitall_truncates", waitall_truncates},
    {"waitsome_truncates", waitsome_truncates},
    {"waitany_truncates", waitany_truncates},
    {"probed_truncates", probed_truncates},
    {"matched_truncates", matched_truncates},
    {"handler_is_called", handler_is_called},
    {"handler_receives_again", handler_receives_again},
    {"truncated_into_a_derived_type", into_a_derived_type},
};
FAMILY(truncation, 2, 0);
