// own_sides WHAT: what one rank alone can see of its own sides of a collective, of two ranks.
//   gather, scatter, allgather: they begin at one address there, as many programs have it
//   short-allgather, short-gather, short-alltoall: the received one is shorter than the sent one
//   long-bcast: the root sends more than the other rank has room for
//   uncommitted: messages of datatypes that are not committed, which every MPI refuses
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 1 << 16, kRounds = 8 };

static float value(int rank, int at) { return (float)(1 + rank) + 0.25f * (float)(at / 16); }

static int differs(const float* block, int rank) {
  for (int at = 0; at < kCount; ++at)
    if (block[at] != value(rank, at)) return 1;
  return 0;
}

static void fill(float* block, int rank) {
  for (int at = 0; at < kCount; ++at) block[at] = value(rank, at);
}

static int overlap(const char* what, int rank, float* own, float* all) {
  const MPI_Comm world = MPI_COMM_WORLD;
  fill(own, rank);
  fill(all, rank);
  memset(all + kCount, 0, sizeof(float) * kCount);
  if (!strcmp(what, "gather")) {
    MPI_Gather(rank ? own : all, kCount, MPI_FLOAT, all, kCount, MPI_FLOAT, 0, world);
    return rank == 0 && (differs(all, 0) || differs(all + kCount, 1));
  }
  if (!strcmp(what, "scatter")) {
    fill(all + kCount, 7);
    MPI_Scatter(all, kCount, MPI_FLOAT, rank ? own : all, kCount, MPI_FLOAT, 0, world);
    return rank == 0 ? differs(all, 0) || differs(all + kCount, 7) : differs(own, 7);
  }
  MPI_Allgather(rank ? own : all, kCount, MPI_FLOAT, all, kCount, MPI_FLOAT, world);
  return differs(all, 0) || differs(all + kCount, 1);
}

// The class of the error, or 0.
static int mismatch(const char* what, int rank, float* own, float* all) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int less = rank == 1 ? kCount - 64 : kCount;
  int code = MPI_SUCCESS, class = 0;
  if (!strcmp(what, "short-allgather"))
    code = MPI_Allgather(own, kCount, MPI_FLOAT, all, less, MPI_FLOAT, world);
  else if (!strcmp(what, "short-gather"))
    code = MPI_Gather(own, kCount, MPI_FLOAT, all, less, MPI_FLOAT, 1, world);
  else if (!strcmp(what, "short-alltoall"))
    code = MPI_Alltoall(all, kCount, MPI_FLOAT, all + 2 * kCount, less, MPI_FLOAT, world);
  else
    code = MPI_Bcast(all, less, MPI_FLOAT, 0, world);
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  return class;
}

static int takes_uncommitted(int rank, float* own, float* all) {
  int taken = 0;
  for (int gaps = 0; gaps < 2; ++gaps) {
    MPI_Datatype type;
    MPI_Request request;
    int class = MPI_SUCCESS;
    MPI_Type_vector(kCount / 2, 1, 1 + gaps, MPI_FLOAT, &type);
    int code = MPI_Isend(own, 1, type, 1 - rank, 2, MPI_COMM_WORLD, &request);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    taken |= class != MPI_ERR_TYPE;
    code = MPI_Irecv(all, 1, type, 1 - rank, 2, MPI_COMM_WORLD, &request);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    taken |= code == MPI_SUCCESS || class != MPI_ERR_TYPE;
    MPI_Type_free(&type);
  }
  if (taken) MPI_Abort(MPI_COMM_WORLD, 3);
  return taken;
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "gather";
  const int fails = strchr(what, '-') != NULL;
  float* const own = calloc(kCount, sizeof(float));
  float* const all = calloc(4 * kCount, sizeof(float));
  int rank = 0, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int messages = !strcmp(what, "uncommitted");
  if (messages) wrong = takes_uncommitted(rank, own, all);
  for (int round = 0; round < kRounds && !fails && !messages; ++round)
    wrong |= overlap(what, rank, own, all);
  if (fails) {
    const int class = mismatch(what, rank, own, all);
    printf("rank %d: %s\n", rank,
           class == MPI_ERR_TRUNCATE ? "truncated"
           : class                   ? "failed"
                                     : "done");
    fflush(stdout);
    if (rank == 1) wrong = class != MPI_ERR_TRUNCATE;
    if (rank == 0) MPI_Barrier(MPI_COMM_SELF);
  }
  if (!wrong) printf("all right\n");
  fflush(stdout);
  MPI_Finalize();
  return wrong;
}
