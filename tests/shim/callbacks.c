// callbacks WHAT: of two ranks. Rank 0 works in the delete callback of an attribute, where MPI
// works as ever; rank 1 does its part outside of callbacks.
//   receive    receives in one of MPI_COMM_SELF's, inside MPI_Finalize
//   sum        sends and adds up in one of MPI_COMM_SELF's, inside MPI_Finalize
//   free       broadcasts in one of a communicator's, inside MPI_Comm_free; it has broadcast before
//   free-first the same, with a communicator that has not
//   both       as free-first, with both ranks in the callback
//   delete     as free-first, inside MPI_Comm_delete_attr; it broadcasts after that, too
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 1 << 18, kTag = 5 };

static float *sent, *got;
static int rank, failed;
static const char* what;

static int is(const char* name) { return strcmp(what, name) == 0; }

static void check(const float* values, float factor) {
  for (int at = 0; at < kCount; ++at) failed |= values[at] != factor * sent[at];
}

static void receive(void) {
  MPI_Status status;
  int count = -1;
  MPI_Recv(got, kCount, MPI_FLOAT, 1, kTag, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_FLOAT, &count);
  failed |= count != kCount;
  check(got, 1);
}

static void add_up(void) {
  MPI_Allreduce(sent, got, kCount, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  check(got, 2);
}

static void broadcast(MPI_Comm comm) {
  if (rank == 0) memcpy(got, sent, kCount * sizeof *got);
  if (rank == 1) memset(got, 0, kCount * sizeof *got);
  MPI_Bcast(got, kCount, MPI_FLOAT, 0, comm);
  check(got, 1);
}

static int deleted(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key, (void)value, (void)extra;
  if (is("receive")) {
    receive();
  } else if (is("sum")) {
    MPI_Send(sent, kCount, MPI_FLOAT, 1, kTag, MPI_COMM_WORLD);
    add_up();
  } else {
    broadcast(comm);
    broadcast(comm);
  }
  if (!failed && !is("both")) printf("rank %d: in the callback\n", rank);
  return MPI_SUCCESS;
}

static void in_finalize(void) {
  int key = MPI_KEYVAL_INVALID;
  for (int round = 0; is("sum") && round < 4; ++round) add_up();
  if (rank == 0) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  } else if (is("receive")) {
    MPI_Send(sent, kCount, MPI_FLOAT, 0, kTag, MPI_COMM_WORLD);
  } else {
    MPI_Recv(got, kCount, MPI_FLOAT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(got, 1);
    add_up();
  }
}

static void in_free(void) {
  for (int round = 0; round < 3; ++round) {
    MPI_Comm comm;
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
    if (is("free")) broadcast(comm);
    if (rank == 0 || is("both")) {
      MPI_Comm_set_attr(comm, key, NULL);
      if (is("delete")) MPI_Comm_delete_attr(comm, key);
    } else {
      broadcast(comm);
      broadcast(comm);
    }
    if (is("delete")) broadcast(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
  }
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  broadcast(comm);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  what = argc > 1 ? argv[1] : "receive";
  sent = malloc(kCount * sizeof *sent);
  got = calloc(kCount, sizeof *got);
  for (int at = 0; at < kCount; ++at) sent[at] = (float)(1 + at / 64);
  if (is("receive") || is("sum")) {
    in_finalize();
  } else {
    in_free();
  }
  MPI_Finalize();
  if (!failed) printf("rank %d: all right\n", rank);
  return failed;
}
