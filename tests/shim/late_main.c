/* Leaves MPI_Finalize to a library (late_finalize.c). */
#include <mpi.h>

void broadcast_some(void);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  broadcast_some();
  return 0;
}
