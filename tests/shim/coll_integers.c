// coll_integers: collectives of integers, which stay the MPI's own; then prints on rank 0 the
// handle that the MPI gives its next communicator. A communicator made meanwhile by anybody else
// moves it.
#include <mpi.h>
#include <stdio.h>

enum { kCount = 4000 };

int main(int argc, char** argv) {
  static int sent[kCount], received[kCount];
  MPI_Init(&argc, &argv);
  MPI_Request request;
  MPI_Bcast(sent, kCount, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Iallreduce(sent, received, kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce(sent, received, kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm next;
  MPI_Comm_dup(MPI_COMM_WORLD, &next);
  int rank = 0;
  MPI_Comm_rank(next, &rank);
  if (rank == 0) printf("next communicator %d\n", (int)MPI_Comm_c2f(next));
  MPI_Comm_free(&next);
  MPI_Finalize();
  return 0;
}
