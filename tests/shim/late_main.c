/* Leaves MPI_Finalize to a library (late_finalize.c). late_main [FILE]: opens a file before, which
   gets standard error's number if that is closed. */
#include <mpi.h>
#include <stdio.h>

void broadcast_some(void);

int main(int argc, char** argv) {
  if (argc > 1) {
    FILE* const kept = fopen(argv[1], "w");
    printf("number %d\n", kept == NULL ? -1 : fileno(kept));
  }
  MPI_Init(&argc, &argv);
  broadcast_some();
  return 0;
}
