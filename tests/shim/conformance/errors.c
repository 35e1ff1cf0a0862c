// Wrong arguments give the error that the MPI gives, and leave no trace.
#include "conformance.h"

enum { kCount = 500 };

// Correct traffic after the mistakes of a case.
static void still_works(void) {
  float *out = floats(kCount), *in = floats(kCount);
  const int other = 1 - rank;
  MPI_Status status;
  fill(out, kCount, rank + 1);
  MPI_Sendrecv(out, kCount, MPI_FLOAT, other, 1, in, kCount, MPI_FLOAT, other, 1, comm, &status);
  CHECK(holds(in, kCount, other + 1) && is_status(&status, other, 1, kCount));
}

static void wrong_sends(void) {
  float* data = floats(kCount);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Send(data, kCount, MPI_FLOAT, size, 0, comm)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Send(data, kCount, MPI_FLOAT, -7, 0, comm)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Send(data, kCount, MPI_FLOAT, 1 - rank, -7, comm)) == MPI_ERR_TAG);
  CHECK(class_of(MPI_Send(data, -1, MPI_FLOAT, 1 - rank, 0, comm)) == MPI_ERR_COUNT);
  CHECK(class_of(MPI_Send(data, kCount, MPI_DATATYPE_NULL, 1 - rank, 0, comm)) == MPI_ERR_TYPE);
  CHECK(class_of(MPI_Isend(data, kCount, MPI_FLOAT, size, 0, comm, &request)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Isend(data, kCount, MPI_FLOAT, 1 - rank, -7, comm, &request)) == MPI_ERR_TAG);
  CHECK(class_of(MPI_Send_init(data, kCount, MPI_FLOAT, size, 0, comm, &request)) == MPI_ERR_RANK);
  still_works();
}

static void wrong_receives(void) {
  float* data = floats(kCount);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  int flag = 0;
  fill(data, kCount, 5);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Recv(data, kCount, MPI_FLOAT, size, 0, comm, &status)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Recv(data, kCount, MPI_FLOAT, 0, -7, comm, &status)) == MPI_ERR_TAG);
  CHECK(holds(data, kCount, 5));  // nothing was received
  CHECK(class_of(MPI_Recv(data, -1, MPI_FLOAT, 0, 0, comm, &status)) == MPI_ERR_COUNT);
  CHECK(class_of(MPI_Irecv(data, kCount, MPI_FLOAT, size, 0, comm, &request)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Irecv(data, kCount, MPI_DATATYPE_NULL, 0, 0, comm, &request)) == MPI_ERR_TYPE);
  CHECK(class_of(MPI_Probe(size, 0, comm, &status)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Iprobe(0, -7, comm, &flag, &status)) == MPI_ERR_TAG);
  CHECK(class_of(MPI_Recv_init(data, kCount, MPI_FLOAT, size, 0, comm, &request)) == MPI_ERR_RANK);
  still_works();
}

static void null_buffers(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Send(NULL, kCount, MPI_FLOAT, 1 - rank, 0, comm)) == MPI_ERR_BUFFER);
  CHECK(class_of(MPI_Recv(NULL, kCount, MPI_FLOAT, 1 - rank, 0, comm, &status)) == MPI_ERR_BUFFER);
  CHECK(class_of(MPI_Irecv(NULL, kCount, MPI_FLOAT, 1 - rank, 0, comm, &request)) ==
        MPI_ERR_BUFFER);
  still_works();
}

// A failed combined call has posted no receive that could take the next message.
static void wrong_exchange(void) {
  float *out = floats(kCount), *in = floats(kCount);
  const int other = 1 - rank;
  MPI_Status status;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Sendrecv(out, kCount, MPI_FLOAT, size, 1, in, kCount, MPI_FLOAT, other, 1,
                              comm, &status)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Sendrecv(out, kCount, MPI_FLOAT, other, -7, in, kCount, MPI_FLOAT, other, 1,
                              comm, &status)) == MPI_ERR_TAG);
  CHECK(class_of(MPI_Sendrecv_replace(out, kCount, MPI_FLOAT, other, -7, other, 1, comm,
                                      &status)) == MPI_ERR_TAG);
  still_works();
}

// The error is the communicator's business: it does not abort.
static void uncommitted_type(void) {
  float* data = floats(2 * kCount);
  MPI_Datatype type;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Type_vector(kCount, 1, 2, MPI_FLOAT, &type);
  CHECK(class_of(MPI_Send(data, 1, type, 1 - rank, 0, comm)) == MPI_ERR_TYPE);
  MPI_Type_free(&type);
  still_works();
}

// Calls the world's handler, as there is no communicator to ask.
static void null_communicator(void) {
  float* data = floats(kCount);
  MPI_Status status;
  MPI_Request request;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Send(data, kCount, MPI_FLOAT, 0, 0, MPI_COMM_NULL)) == MPI_ERR_COMM);
  CHECK(class_of(MPI_Recv(data, kCount, MPI_FLOAT, 0, 0, MPI_COMM_NULL, &status)) == MPI_ERR_COMM);
  CHECK(class_of(MPI_Isend(data, kCount, MPI_FLOAT, 0, 0, MPI_COMM_NULL, &request)) ==
        MPI_ERR_COMM);
  CHECK(class_of(MPI_Irecv(data, kCount, MPI_FLOAT, 0, 0, MPI_COMM_NULL, &request)) ==
        MPI_ERR_COMM);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  still_works();
}

static void null_requests(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Start(&request)) == MPI_ERR_REQUEST);
  CHECK(class_of(MPI_Cancel(&request)) == MPI_ERR_REQUEST);
  CHECK(class_of(MPI_Request_free(&request)) == MPI_ERR_REQUEST);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static const Case kCases[] = {
    {"wrong_sends", wrong_sends},           {"wrong_receives", wrong_receives},
    {"null_buffers", null_buffers},         {"wrong_exchange", wrong_exchange},
    {"uncommitted_type", uncommitted_type}, {"null_communicator", null_communicator},
    {"null_requests", null_requests},
};
FAMILY(errors, 2, 0);
