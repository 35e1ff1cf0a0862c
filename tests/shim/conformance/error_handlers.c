// The program's own error handlers: how often they are called, with what, and what they may do.
#include <string.h>

#include "conformance.h"

enum { kCount = 300, kShort = 100 };

static MPI_Comm aside;  // where a handler sends
static int calls, last_class, inside;
static MPI_Comm last_comm;
static void (*then)(void);  // what a handler does besides counting

static void handle(MPI_Comm* which, int* code, ...) {
  ++calls;
  ++inside;
  last_comm = *which;
  last_class = class_of(*code);
  if (then && inside == 1) then();
  --inside;
}

// The same handler everywhere: a failed completion is the business of its communicator in one MPI
// and of the process in another.
static void with_handler(void (*run)(void)) {
  MPI_Errhandler handler;
  const MPI_Comm everywhere[] = {comm, MPI_COMM_WORLD, MPI_COMM_SELF};
  MPI_Comm_dup(comm, &aside);
  MPI_Comm_create_errhandler(handle, &handler);
  for (int at = 0; at < 3; ++at) MPI_Comm_set_errhandler(everywhere[at], handler);
  MPI_Errhandler_free(&handler);  // it lives on in its communicators
  CHECK(handler == MPI_ERRHANDLER_NULL);
  calls = inside = 0;
  then = NULL;
  run();
  for (int at = 1; at < 3; ++at) MPI_Comm_set_errhandler(everywhere[at], MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&aside);
}

static void send_long(int tag) {
  float* data = floats(kCount);
  fill(data, kCount, tag);
  MPI_Send(data, kCount, MPI_FLOAT, 1, tag, comm);
}

// The call's own result is not looked at: MPICH 5 takes a handler that returns for success.
static int called(int times, int error_class) {
  return calls == times && last_class == error_class;
}

static void called_once_each(void) {
  float* data = floats(kCount);
  MPI_Message message;
  MPI_Request request;
  for (int tag = 0; tag < 4 && rank == 0; ++tag) send_long(tag);
  if (rank == 0) return;
  MPI_Recv(data, kShort, MPI_FLOAT, 0, 0, comm, MPI_STATUS_IGNORE);
  CHECK(called(1, MPI_ERR_TRUNCATE) && last_comm == comm);
  MPI_Mprobe(0, 1, comm, &message, MPI_STATUS_IGNORE);
  CHECK(calls == 1);
  MPI_Mrecv(data, kShort, MPI_FLOAT, &message, MPI_STATUS_IGNORE);
  CHECK(called(2, MPI_ERR_TRUNCATE));
  MPI_Irecv(data, kShort, MPI_FLOAT, 0, 2, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(called(3, MPI_ERR_TRUNCATE));
  CHECK(MPI_Recv(data, kCount, MPI_FLOAT, 0, 3, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(calls == 3 && holds(data, kCount, 3));
}

static void wrong_arguments(void) {
  float* data = floats(kCount);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Send(data, kCount, MPI_FLOAT, size, 0, comm);
  CHECK(called(1, MPI_ERR_RANK) && last_comm == comm);
  MPI_Isend(data, kCount, MPI_FLOAT, 1 - rank, -7, comm, &request);
  CHECK(called(2, MPI_ERR_TAG) && last_comm == comm);
  MPI_Irecv(data, -1, MPI_FLOAT, 1 - rank, 0, comm, &request);
  CHECK(called(3, MPI_ERR_COUNT) && last_comm == comm);
  MPI_Sendrecv(data, kCount, MPI_FLOAT, size, 1, data + 1, 1, MPI_FLOAT, 0, 1, comm, &status);
  CHECK(called(4, MPI_ERR_RANK) && last_comm == comm);
  MPI_Probe(size, 0, comm, &status);
  CHECK(called(5, MPI_ERR_RANK) && last_comm == comm);
}

// Receives by a type of so many blocks, whose message's length may be looked at first. What is too
// long touches nothing beside them, nor what the library receives it in.
enum { kBlocks = 2100, kLong = 60000 };

static void send_to_blocks(void) {
  float* data = floats(kLong);
  fill(data, kLong, 6);
  MPI_Send(data, kLong, MPI_FLOAT, 1, 6, comm);
  MPI_Send(data, kBlocks, MPI_FLOAT, 1, 7, comm);
  MPI_Send(data, kLong, MPI_FLOAT, 1, 8, comm);
  MPI_Send(data, kBlocks + 1, MPI_FLOAT, 1, 9, comm);
  MPI_Send(data, kBlocks, MPI_FLOAT, 1, 10, comm);
}

static int holds_in_blocks(const float* data) {
  float* dense = floats(kBlocks);
  for (int at = 0; at < kBlocks; ++at) dense[at] = data[2 * at];
  return holds(dense, kBlocks, 6);
}

static void receives_begun_by_blocks(float* data, MPI_Datatype blocks) {
  MPI_Request request;
  for (int tag = 8; tag <= 10; ++tag) {
    memset(data, 0, 2 * kBlocks * sizeof *data);
    MPI_Irecv(data, 1, blocks, 0, tag, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(called(tag == 8 ? 3 : 4, tag == 10 ? last_class : MPI_ERR_TRUNCATE));
    if (tag == 10) CHECK(holds_in_blocks(data));
  }
}

static void receives_by_blocks(void) {
  static int starts[kBlocks];
  float* data = floats(2 * kBlocks);
  MPI_Datatype blocks;
  if (rank == 0) {
    send_to_blocks();
    return;
  }
  for (int at = 0; at < kBlocks; ++at) starts[at] = 2 * at;
  MPI_Type_create_indexed_block(kBlocks, 1, starts, MPI_FLOAT, &blocks);
  MPI_Type_commit(&blocks);
  MPI_Recv(data, 1, blocks, 0, 6, comm, MPI_STATUS_IGNORE);
  CHECK(called(1, MPI_ERR_TRUNCATE) && last_comm == comm);
  MPI_Recv(data, 1, blocks, 0, -7, comm, MPI_STATUS_IGNORE);
  CHECK(called(2, MPI_ERR_TAG) && last_comm == comm);
  CHECK(MPI_Recv(data, 1, blocks, 0, 7, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS && calls == 2);
  CHECK(holds_in_blocks(data));
  receives_begun_by_blocks(data, blocks);
  MPI_Type_free(&blocks);
}

// A handler may call MPI, on the same communicator too.
static void talk_aside(void) {
  float *out = floats(kCount), *in = floats(kCount);
  const MPI_Comm where[] = {aside, comm};
  MPI_Request request;
  MPI_Status status;
  fill(out, kCount, 8);
  for (int at = 0; at < 2; ++at) {
    MPI_Isend(out, kCount, MPI_FLOAT, rank, 5, where[at], &request);
    MPI_Probe(rank, 5, where[at], &status);
    CHECK(is_status(&status, rank, 5, kCount));
    MPI_Recv(in, kCount, MPI_FLOAT, rank, 5, where[at], &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(holds(in, kCount, 8));
  }
}

static void handlers_that_communicate(void) {
  float* data = floats(kCount);
  then = talk_aside;
  called_once_each();
  MPI_Send(data, kCount, MPI_FLOAT, size, 0, comm);
  CHECK(last_class == MPI_ERR_RANK);
}

// Its own call fails again: it is called for that too.
static void fail_again(void) {
  float* data = floats(kCount);
  MPI_Send(data, kCount, MPI_FLOAT, 1 - rank, -7, comm);
  CHECK(called(2, MPI_ERR_TAG));
}

static void handlers_that_fail(void) {
  float* data = floats(kCount);
  then = fail_again;
  MPI_Send(data, kCount, MPI_FLOAT, size, 0, comm);
  CHECK(calls == 2 && inside == 0);
}

static void return_from_now_on(void) { MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); }

static void handlers_that_replace_themselves(void) {
  float* data = floats(kCount);
  then = return_from_now_on;
  MPI_Send(data, kCount, MPI_FLOAT, size, 0, comm);
  CHECK(class_of(MPI_Send(data, kCount, MPI_FLOAT, size, 0, comm)) == MPI_ERR_RANK);
  CHECK(calls == 1);
}

// The others of an array are complete and right, and each status says what came of its own.
static void one_of_many(void) {
  enum { kRequests = 4 };
  float* data = floats(kRequests * kCount);
  MPI_Request requests[kRequests];
  MPI_Status statuses[kRequests];
  for (int tag = 0; tag < kRequests && rank == 0; ++tag) send_long(tag);
  if (rank == 0) return;
  for (int at = 0; at < kRequests; ++at) {
    MPI_Irecv(data + at * kCount, at == 2 ? kShort : kCount, MPI_FLOAT, 0, at, comm, &requests[at]);
  }
  int error = MPI_SUCCESS, left = kRequests;
  while (left > 0) {  // an MPI may return at the first error with others still pending
    error = MPI_Waitall(kRequests, requests, statuses);
    if (error != MPI_SUCCESS) CHECK(error == MPI_ERR_IN_STATUS && calls >= 1);
    left = 0;
    for (int at = 0; at < kRequests; ++at) left += requests[at] != MPI_REQUEST_NULL;
  }
  CHECK(calls == 1);
  for (int at = 0; at < kRequests; ++at) {
    if (at != 2) CHECK(holds(data + at * kCount, kCount, at));
  }
  CHECK(data[2 * kCount + kShort] == 0);
}

// A handler that receives may be given the handle of the request that has failed: what becomes of
// the message is no business of the call that goes on.
static float* late;
static MPI_Request late_request;

static void receive_late(void) { MPI_Irecv(late, kCount, MPI_FLOAT, 0, 3, comm, &late_request); }

static void complete_one(int way, MPI_Request* requests) {
  MPI_Status statuses[2];
  int index = 0, flag = 0, indices[2];
  switch (way) {
    case 0:
      MPI_Waitany(2, requests, &index, statuses);
      break;
    case 1:
      MPI_Testany(2, requests, &index, &flag, statuses);
      break;
    case 2:
      MPI_Waitsome(2, requests, &index, indices, statuses);
      break;
    case 3:
      MPI_Testsome(2, requests, &index, indices, statuses);
      break;
    case 4:
      MPI_Testall(2, requests, &flag, statuses);
      break;
    default:
      MPI_Waitall(2, requests, statuses);
  }
}

static void send_to_handler(int waits) {
  const int integers[4] = {0};
  int go = 0;
  MPI_Send(integers, 4, MPI_INT, 1, 1, comm);
  if (waits) MPI_Recv(&go, 1, MPI_INT, 1, 9, comm, MPI_STATUS_IGNORE);
  send_long(2);
  send_long(3);
}

static void handlers_that_receive(void) {
  float* data = floats(kCount);
  late = floats(kCount);
  then = receive_late;
  for (int round = 0; round < 12; ++round) {
    const int failing = round % 2, way = round / 2, waits = way < 4;
    MPI_Request requests[2];
    int integers[2], go = 0;
    if (rank == 0) {
      send_to_handler(waits);
      continue;
    }
    memset(data, 0, kCount * sizeof *data);
    memset(late, 0, kCount * sizeof *late);
    MPI_Irecv(integers, 2, MPI_INT, 0, 1, comm, &requests[failing]);
    MPI_Irecv(data, kCount, MPI_FLOAT, 0, 2, comm, &requests[1 - failing]);
    for (calls = 0; calls == 0;) complete_one(way, requests);
    if (waits) MPI_Send(&go, 1, MPI_INT, 0, 9, comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);  // the one that is left
    MPI_Wait(&late_request, MPI_STATUS_IGNORE);
    CHECK(calls == 1 && holds(data, kCount, 2) && holds(late, kCount, 3));
  }
}

static void calls_counted(void) { with_handler(called_once_each); }
static void calls_of_wrong_arguments(void) { with_handler(wrong_arguments); }
static void by_blocks(void) { with_handler(receives_by_blocks); }
static void communicating(void) { with_handler(handlers_that_communicate); }
static void failing(void) { with_handler(handlers_that_fail); }
static void replacing(void) { with_handler(handlers_that_replace_themselves); }
static void among_many(void) { with_handler(one_of_many); }
static void receiving(void) { with_handler(handlers_that_receive); }

static const Case kCases[] = {
    {"handler_called_once_each", calls_counted},
    {"handler_of_wrong_arguments", calls_of_wrong_arguments},
    {"handler_of_receives_by_blocks", by_blocks},
    {"handler_that_communicates", communicating},
    {"handler_that_fails", failing},
    {"handler_that_replaces_itself", replacing},
    {"handler_for_one_of_many", among_many},
    {"handler_that_receives", receiving},
};
FAMILY(error_handlers, 2, 0);
