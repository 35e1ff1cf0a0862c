/* A library whose end makes the process's last calls of MPI: it was initialised before a preload
 * library, and ends after it. */
#include <mpi.h>
#include <stdio.h>

static float values[1 << 17];

void broadcast_some(void) {
  for (int call = 0; call < 3; ++call) MPI_Bcast(values, 1 << 17, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

__attribute__((destructor)) static void finish(void) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (!begun || ended) return;
  broadcast_some();
  MPI_Finalize();
  printf("finalized\n");
  fflush(stdout);
}
