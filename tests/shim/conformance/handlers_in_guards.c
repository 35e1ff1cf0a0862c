// Error handlers that communicate, called by probes and receives that are refused, while other
// threads probe and receive.
#include <pthread.h>

#include "conformance.h"

enum { kCount = 400, kRounds = 100, kNoTag = -77, kPing = 4, kPong = 5 };

static int calls;

// Waits for an answer that the other rank's second thread gives, and its own may have to ask for.
static void handle(MPI_Comm* which, int* code, ...) {
  (void)which;
  (void)code;
  float* data = floats(kCount);
  ++calls;
  fill(data, kCount, 7);
  MPI_Send(data, kCount, MPI_FLOAT, 1 - rank, kPing, comm);
  MPI_Recv(data, kCount, MPI_FLOAT, 1 - rank, kPong, comm, MPI_STATUS_IGNORE);
  CHECK(holds(data, kCount, 7));
}

// Answers what the other rank's handler asks, by probes.
static void* answer(void* number) {
  float* data = floats(kCount);
  MPI_Status status;
  for (int left = *(int*)number; left > 0; --left) {
    MPI_Probe(MPI_ANY_SOURCE, kPing, comm, &status);
    MPI_Recv(data, kCount, MPI_FLOAT, status.MPI_SOURCE, kPing, comm, MPI_STATUS_IGNORE);
    MPI_Send(data, kCount, MPI_FLOAT, status.MPI_SOURCE, kPong, comm);
  }
  return NULL;
}

static void refused_calls(void) {
  MPI_Errhandler handler;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  pthread_t thread;
  int flag = 0, questions = 3 * kRounds;
  float* data = floats(kCount);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  calls = 0;
  pthread_create(&thread, NULL, answer, &questions);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Iprobe(1 - rank, kNoTag, comm, &flag, &status);
    MPI_Irecv(data, kCount, MPI_FLOAT, 1 - rank, kNoTag, comm, &request);
    MPI_Recv(data, kCount, MPI_FLOAT, 1 - rank, kNoTag, comm, &status);
  }
  pthread_join(thread, NULL);
  CHECK(calls == questions);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
}

static void count(MPI_Comm* which, int* code, ...) {
  (void)which;
  (void)code;
  ++calls;
}

// The second message's probe matches the first one too, which then lies there.
static void one_error_of_a_refused_probe(void) {
  MPI_Errhandler handler;
  MPI_Status status;
  int flag = 0;
  float* data = floats(kCount);
  fill(data, kCount, 3);
  calls = 0;
  if (rank == 0) {
    for (int tag = 0; tag < 2; ++tag) MPI_Send(data, kCount, MPI_FLOAT, 1, tag, comm);
    return;
  }
  MPI_Probe(0, 1, comm, &status);
  MPI_Comm_create_errhandler(count, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Iprobe(0, kNoTag, comm, &flag, &status);
  CHECK(calls == 1);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  for (int tag = 0; tag < 2; ++tag) MPI_Recv(data, kCount, MPI_FLOAT, 0, tag, comm, &status);
  CHECK(holds(data, kCount, 3));
}

static const Case kCases[] = {{"one_error_of_a_refused_probe", one_error_of_a_refused_probe},
                              {"refused_calls", refused_calls}};
FAMILY(handlers_in_guards, 2, kThreadMultiple);
