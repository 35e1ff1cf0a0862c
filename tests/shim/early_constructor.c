// A module whose constructor starts the MPI, before its host can look anything up in it;
// plugin_host loads it.
#include <mpi.h>
#include <stdio.h>

int run_plugin(int* argc, char*** argv);

__attribute__((constructor)) static void start(void) { MPI_Init(NULL, NULL); }

int run_plugin(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  int rank = 0, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int own = rank + 1;
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (sum == 3) printf("rank %d: as it should be\n", rank);
  return sum != 3;
}
