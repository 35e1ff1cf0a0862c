// Receives that outlive their communicator and fail: the errors go to the handler that it had. Of
// two ranks; apart from the conformance program because some MPIs end the process here.
#include <mpi.h>
#include <stdio.h>

enum { kCount = 600 };

static int handled;

static void count_errors(MPI_Comm* which, int* code, ...) {
  (void)code;
  handled += *which != MPI_COMM_NULL;
}

static int is_truncation(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class == MPI_ERR_TRUNCATE;
}

static void make_communicators(MPI_Comm* returning, MPI_Comm* counting) {
  MPI_Errhandler handler;
  MPI_Comm_dup(MPI_COMM_WORLD, returning);
  MPI_Comm_dup(MPI_COMM_WORLD, counting);
  MPI_Comm_set_errhandler(*returning, MPI_ERRORS_RETURN);
  MPI_Comm_create_errhandler(count_errors, &handler);
  MPI_Comm_set_errhandler(*counting, handler);
  MPI_Errhandler_free(&handler);
}

static void send_all(float* data, MPI_Comm returning, MPI_Comm counting) {
  MPI_Request requests[3];
  for (int at = 0; at < kCount; ++at) data[at] = (float)at;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Isend(data, kCount, MPI_FLOAT, 1, 1, returning, &requests[0]);
  MPI_Isend(data, kCount, MPI_FLOAT, 1, 1, counting, &requests[1]);
  MPI_Isend(data, 100, MPI_FLOAT, 1, 1, counting, &requests[2]);
  MPI_Comm_free(&returning);
  MPI_Comm_free(&counting);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

static int receive_all(float* data, MPI_Comm returning, MPI_Comm counting) {
  MPI_Request requests[3];
  MPI_Irecv(data, 400, MPI_FLOAT, 0, 1, returning, &requests[0]);
  MPI_Irecv(data + 400, 100, MPI_FLOAT, 0, 1, counting, &requests[1]);
  MPI_Irecv(data + 500, 100, MPI_FLOAT, 0, 1, counting, &requests[2]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&returning);
  MPI_Comm_free(&counting);
  if (!is_truncation(MPI_Wait(&requests[0], MPI_STATUS_IGNORE))) return 1;
  if (!is_truncation(MPI_Wait(&requests[1], MPI_STATUS_IGNORE)) || handled != 1) return 2;
  if (MPI_Wait(&requests[2], MPI_STATUS_IGNORE) != MPI_SUCCESS || handled != 1) return 3;
  for (int at = 0; at < 100; ++at) {
    if (data[500 + at] != (float)at) return 4;
  }
  return 0;
}

int main(int argc, char** argv) {
  static float data[kCount];
  int rank = 0, wrong = 0;
  MPI_Comm returning, counting;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  make_communicators(&returning, &counting);
  if (rank == 0) send_all(data, returning, counting);
  if (rank == 1) wrong = receive_all(data, returning, counting);
  if (rank == 1) printf("wrong at step %d\n", wrong);
  MPI_Finalize();
  return wrong;
}
