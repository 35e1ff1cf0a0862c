// coll_dying: ranks broadcast and gather large arrays over and over; the last one kills itself
// after a while, in the middle of it. Rank 0 prints its process number first; the others wait for
// what never comes.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kCount = 1 << 20, kSeconds = 60, kAliveMicroseconds = 300000 };

static void* die_soon(void* unused) {
  usleep(kAliveMicroseconds);
  kill(getpid(), SIGKILL);
  return unused;
}

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  pthread_t killer;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  alarm(kSeconds);
  float* data = calloc(kCount, sizeof *data);
  float* all = calloc((size_t)kCount * (size_t)size, sizeof *all);
  if (rank == 0) printf("process %ld\n", (long)getpid());
  fflush(stdout);
  MPI_Allgather(data, kCount, MPI_FLOAT, all, kCount, MPI_FLOAT, MPI_COMM_WORLD);
  if (rank == size - 1) pthread_create(&killer, NULL, die_soon, NULL);
  for (;;) {
    MPI_Bcast(data, kCount, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Allgather(data, kCount, MPI_FLOAT, all, kCount, MPI_FLOAT, MPI_COMM_WORLD);
  }
}
