// Prints the results of calls on a revoked communicator, as classes of errors, a line each; for an
// MPI that can revoke one, on two ranks. `--threads 1` starts MPI with MPI_THREAD_MULTIPLE; `--one
// 1` has rank 0 revoke it alone, while rank 1 waits in a call that rank 0 never makes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 4000 };

typedef int (*Revoke)(MPI_Comm);

static float sent[2 * kCount], got[2 * kCount];
static int rank;

static int option(int argc, char** argv, const char* name) {
  for (int at = 1; at + 1 < argc; ++at) {
    if (strcmp(argv[at], name) == 0) return atoi(argv[at + 1]);
  }
  return 0;
}

static void tell(const char* call, int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  printf("rank %d %s %d\n", rank, call, error_class);
}

static int wait_for(int code, MPI_Request* request) {
  return code != MPI_SUCCESS ? code : MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void exchange(MPI_Comm comm) {
  MPI_Sendrecv(sent, kCount, MPI_FLOAT, 1 - rank, 1, got, kCount, MPI_FLOAT, 1 - rank, 1, comm,
               MPI_STATUS_IGNORE);
  MPI_Allgather(sent, kCount, MPI_FLOAT, got, kCount, MPI_FLOAT, comm);
  MPI_Bcast(got, kCount, MPI_FLOAT, 0, comm);
}

static void call_all(MPI_Comm comm) {
  const int other = 1 - rank;
  MPI_Request request = MPI_REQUEST_NULL;
  tell("barrier", MPI_Barrier(comm));
  tell("send", MPI_Send(sent, kCount, MPI_FLOAT, other, 1, comm));
  tell("receive", MPI_Recv(got, kCount, MPI_FLOAT, other, 1, comm, MPI_STATUS_IGNORE));
  tell("send to nobody", MPI_Send(sent, kCount, MPI_FLOAT, MPI_PROC_NULL, 1, comm));
  tell("receive from nobody",
       MPI_Recv(got, kCount, MPI_FLOAT, MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE));
  tell("send and receive", MPI_Sendrecv(sent, kCount, MPI_FLOAT, other, 1, got, kCount, MPI_FLOAT,
                                        other, 1, comm, MPI_STATUS_IGNORE));
  tell("start of a send",
       wait_for(MPI_Isend(sent, kCount, MPI_FLOAT, other, 1, comm, &request), &request));
  request = MPI_REQUEST_NULL;
  tell("start of a receive",
       wait_for(MPI_Irecv(got, kCount, MPI_FLOAT, other, 1, comm, &request), &request));
  tell("broadcast", MPI_Bcast(got, kCount, MPI_FLOAT, 0, comm));
  tell("gather to all", MPI_Allgather(sent, kCount, MPI_FLOAT, got, kCount, MPI_FLOAT, comm));
  tell("sum", MPI_Allreduce(sent, got, kCount, MPI_FLOAT, MPI_SUM, comm));
  tell("all to all", MPI_Alltoall(sent, kCount / 2, MPI_FLOAT, got, kCount / 2, MPI_FLOAT, comm));
}

// Rank 1 waits for what never comes, until rank 0 has revoked the communicator.
static void interrupt(MPI_Comm comm, Revoke revoke) {
  if (rank == 0) {
    MPI_Recv(got, 1, MPI_FLOAT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tell("revocation", revoke(comm));
    return;
  }
  MPI_Send(sent, 1, MPI_FLOAT, 0, 2, MPI_COMM_WORLD);
  tell("interrupted", MPI_Bcast(got, kCount, MPI_FLOAT, 0, comm));
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Comm comm;
  MPI_Init_thread(&argc, &argv,
                  option(argc, argv, "--threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Revoke revoke;
  *(void**)&revoke = dlsym(RTLD_DEFAULT, "MPIX_Comm_revoke");
  if (revoke == NULL) {
    printf("cannot revoke\n");
    return MPI_Finalize();
  }
  for (int at = 0; at < 2 * kCount; ++at) sent[at] = (float)at;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  exchange(comm);
  MPI_Barrier(MPI_COMM_WORLD);
  if (option(argc, argv, "--one")) {
    interrupt(comm, revoke);
  } else {
    tell("revocation", revoke(comm));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  call_all(comm);
  exchange(MPI_COMM_WORLD);
  tell("afterwards", memcmp(got, sent, kCount * sizeof *got) == 0 ? MPI_SUCCESS : MPI_ERR_OTHER);
  MPI_Comm_free(&comm);
  return MPI_Finalize();
}
