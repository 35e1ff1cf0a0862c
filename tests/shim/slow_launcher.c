// slow_launcher: of three ranks, rank 0 sends to rank 1 from one thread and, meanwhile, to rank 2,
// with which it has talked before, from another. Prints how long that other message took to go, in
// milliseconds.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kCount = 50000 };

static float* data;

static void* send_to_first(void* unused) {
  MPI_Send(data, kCount, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
  return unused;
}

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  data = calloc(kCount, sizeof *data);
  if (rank == 0) {
    pthread_t thread;
    MPI_Send(data, kCount, MPI_FLOAT, 2, 0, MPI_COMM_WORLD);
    pthread_create(&thread, NULL, send_to_first, NULL);
    usleep(300000);  // it asks by now
    const double began = MPI_Wtime();
    MPI_Send(data, kCount, MPI_FLOAT, 2, 0, MPI_COMM_WORLD);
    printf("took %.0f\n", 1e3 * (MPI_Wtime() - began));
    pthread_join(thread, NULL);
  } else {
    for (int at = 0; at < rank; ++at)
      MPI_Recv(data, kCount, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  free(data);
  return MPI_Finalize();
}
