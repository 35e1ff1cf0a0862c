// coll_named same|other|late: sums on a communicator that has a name, by a call that does not
// block, one that does, and again the first; with "other" rank 0 calls the communicator something
// else, with "late" it is named after a sum of one value. Prints by rank, for each of the three,
// whether the sum was added in the order of the ranks.
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdio.h>
#include <string.h>

enum { kCount = 1000 };
static int rank, size;

// A rank's values, whose sum depends on the order of additions.
static float value(int of, int at) {
  const float large = 1e8F * (float)(1 + at % 7);
  return of % 2 == 0 ? (of % 4 == 0 ? large : -large) : 1.25F + (float)at;
}

static const char* order_of(const float* sum) {
  for (int at = 0; at < kCount; ++at) {
    float wanted = value(0, at);
    for (int of = 1; of < size; ++of) wanted += value(of, at);
    if (memcmp(&wanted, sum + at, sizeof wanted) != 0) return "other";
  }
  return "in-order";
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm named;
  MPI_Comm_dup(MPI_COMM_WORLD, &named);
  const int differs = argc > 1 && strcmp(argv[1], "other") == 0 && rank == 0;
  float one = 1, all = 0;
  if (argc > 1 && strcmp(argv[1], "late") == 0)
    MPI_Allreduce(&one, &all, 1, MPI_FLOAT, MPI_SUM, named);
  MPI_Comm_set_name(named, differs ? "something else" : "sums");
  float in[kCount], out[3][kCount];
  for (int at = 0; at < kCount; ++at) in[at] = value(rank, at);
  for (int call = 0; call < 3; ++call) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (call == 1) MPI_Allreduce(in, out[call], kCount, MPI_FLOAT, MPI_SUM, named);
    if (call != 1) MPI_Iallreduce(in, out[call], kCount, MPI_FLOAT, MPI_SUM, named, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  printf("rank %d: %s %s %s\n", rank, order_of(out[0]), order_of(out[1]), order_of(out[2]));
  MPI_Comm_free(&named);
  MPI_Finalize();
  return 0;
}
