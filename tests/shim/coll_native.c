// coll_native: on three ranks every collective that may be compressed, of so few floats, between
// such groups or of such a type that it stays the MPI's own. What each carries is known:
// test_shim_native_bytes.py adds it up.
#include <mpi.h>
#include <stdio.h>

enum { kCount = 10, kRanks = 3, kMany = 4000 };

static float in[kRanks * kCount], out[kRanks * kCount];
static int numbers[kMany], rank;
static int counts[] = {1, 2, 3}, places[] = {0, 1, 3}, ones[] = {1, 1, 1}, bytes[] = {0, 4, 8};

static const void* in_place_at(int root) { return rank == root ? MPI_IN_PLACE : (void*)in; }

static void of_one_length(MPI_Comm comm) {
  MPI_Bcast(in, kCount, MPI_FLOAT, 1, comm);
  MPI_Reduce(in_place_at(0), out, kCount, MPI_FLOAT, MPI_SUM, 0, comm);
  MPI_Allreduce(MPI_IN_PLACE, out, kCount, MPI_FLOAT, MPI_SUM, comm);
  MPI_Reduce_scatter(in, out, counts, MPI_FLOAT, MPI_SUM, comm);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, out, kCount, MPI_FLOAT, MPI_SUM, comm);
  MPI_Allgather(in, kCount, MPI_FLOAT, out, kCount, MPI_FLOAT, comm);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, kCount, MPI_FLOAT, comm);
  MPI_Gather(in_place_at(2), kCount, MPI_FLOAT, out, kCount, MPI_FLOAT, 2, comm);
  MPI_Scatter(in, kCount, MPI_FLOAT, out, kCount, MPI_FLOAT, 0, comm);
  MPI_Alltoall(in, kCount, MPI_FLOAT, out, kCount, MPI_FLOAT, comm);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, counts, places, MPI_FLOAT, comm);
}

static void of_lengths(MPI_Comm comm) {
  MPI_Datatype types[] = {MPI_FLOAT, MPI_FLOAT, MPI_FLOAT};
  int mine[] = {rank + 1, rank + 1, rank + 1}, apart[] = {0, kCount, 2 * kCount};
  MPI_Gatherv(in, counts[rank], MPI_FLOAT, out, counts, places, MPI_FLOAT, 0, comm);
  MPI_Scatterv(in, counts, places, MPI_FLOAT, out, counts[rank], MPI_FLOAT, 1, comm);
  MPI_Alltoallv(in, counts, places, MPI_FLOAT, out, mine, apart, MPI_FLOAT, comm);
  MPI_Alltoallw(in, ones, bytes, types, out, ones, bytes, types, comm);
}

// Rank 0 against the others.
static void between_groups(void) {
  MPI_Comm own, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 1, &both);
  const int root = rank == 0 ? MPI_ROOT : 0;
  MPI_Bcast(in, kCount, MPI_FLOAT, root, both);
  MPI_Allreduce(in, out, kCount, MPI_FLOAT, MPI_SUM, both);
  MPI_Gather(in, kCount, MPI_FLOAT, out, kCount, MPI_FLOAT, root, both);
  MPI_Scatter(in, kCount, MPI_FLOAT, out, kCount, MPI_FLOAT, root, both);
  MPI_Alltoall(in, kCount, MPI_FLOAT, out, kCount, MPI_FLOAT, both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&own);
}

int main(int argc, char** argv) {
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  of_one_length(MPI_COMM_WORLD);
  MPI_Iallreduce(in, out, kCount, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  of_lengths(MPI_COMM_WORLD);
  MPI_Allreduce(in, out, kCount, MPI_FLOAT, MPI_SUM, MPI_COMM_SELF);
  between_groups();
  MPI_Allreduce(MPI_IN_PLACE, numbers, kMany, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
