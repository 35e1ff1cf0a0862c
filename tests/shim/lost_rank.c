// lost_rank CALL COUNT AT [FORM]: three ranks and more gather or broadcast over and over; the last
// one kills itself in its call number AT, or ("revokes") revokes the communicator in its place. The
// others revoke it, shrink it, and add up what is left. Natively as under the library they come to
// the end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kSeconds = 40, kCalls = 24 };

static int rank, size, count;
static float *data, *all;
static MPI_Comm comm;

static int call(const char* name) {
  if (strcmp(name, "bcast") == 0) return MPI_Bcast(data, count, MPI_FLOAT, 0, comm);
  if (strcmp(name, "alltoall") == 0)
    return MPI_Alltoall(all, count, MPI_FLOAT, all + (size_t)count * (size_t)size, count, MPI_FLOAT,
                        comm);
  if (strcmp(name, "gather") == 0)
    return MPI_Gather(data, count, MPI_FLOAT, all, count, MPI_FLOAT, 0, comm);
  return MPI_Allgather(data, count, MPI_FLOAT, all, count, MPI_FLOAT, comm);
}

static void* die_soon(void* microseconds) {
  usleep((useconds_t)(size_t)microseconds);
  kill(getpid(), SIGKILL);
  return NULL;
}

int main(int argc, char** argv) {
  typedef int (*Revoke)(MPI_Comm);
  typedef int (*Shrink)(MPI_Comm, MPI_Comm*);
  Revoke revoke;
  Shrink shrink;
  MPI_Init(&argc, &argv);
  *(void**)&revoke = dlsym(RTLD_DEFAULT, "MPIX_Comm_revoke");
  *(void**)&shrink = dlsym(RTLD_DEFAULT, "MPIX_Comm_shrink");
  if (argc < 5 || revoke == NULL || shrink == NULL) return MPI_Finalize();
  alarm(kSeconds);
  count = atoi(argv[2]);
  const int at = atoi(argv[3]);
  const char* how = argv[4];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  data = calloc((size_t)count, sizeof *data);
  all = calloc(2 * (size_t)count * (size_t)size, sizeof *all);
  for (int i = 0; i < count; ++i) data[i] = all[i] = 1 + 0.001F * (float)i;
  int error = MPI_SUCCESS;
  for (int turn = 0; turn < kCalls && error == MPI_SUCCESS; ++turn) {
    if (turn == at && rank == size - 1) {
      if (strcmp(how, "dies") == 0) raise(SIGKILL);
      if (strcmp(how, "revokes") == 0) {
        revoke(comm);
        break;
      }
      pthread_t killer;  // amid the call
      pthread_create(&killer, NULL, die_soon, (void*)(size_t)300);
      for (;;) call(argv[1]);
    }
    error = call(argv[1]);
  }
  revoke(comm);
  MPI_Comm left;
  int here = 1, sum = 0;
  if (shrink(comm, &left) != MPI_SUCCESS) return 1;
  MPI_Allreduce(&here, &sum, 1, MPI_INT, MPI_SUM, left);
  int ranks = 0;
  MPI_Comm_size(left, &ranks);
  MPI_Bcast(data, count, MPI_FLOAT, 0, left);
  printf("rank %d goes on with %d of %d: %s\n", rank, sum, size, sum == ranks ? "right" : "wrong");
  fflush(stdout);
  _exit(0);
}
