// Four ranks: communicators whose ranks are not the world's, between groups, and freed in use.
#include "conformance.h"

enum { kCount = 300 };

// One message each way round a communicator, and one from any source with a probe before.
static void round_of(MPI_Comm which) {
  float *out = floats(kCount), *in = floats(kCount);
  int me = 0, ranks = 0;
  MPI_Status status;
  MPI_Comm_rank(which, &me);
  MPI_Comm_size(which, &ranks);
  const int to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
  fill(out, kCount, me);
  MPI_Sendrecv(out, kCount, MPI_FLOAT, to, 1, in, kCount, MPI_FLOAT, from, 1, which, &status);
  CHECK(holds(in, kCount, from) && is_status(&status, from, 1, kCount));
  MPI_Request request;
  MPI_Isend(out, kCount, MPI_FLOAT, to, 2, which, &request);
  MPI_Probe(MPI_ANY_SOURCE, 2, which, &status);
  CHECK(is_status(&status, from, 2, kCount));
  fill(in, kCount, 9);
  MPI_Recv(in, kCount, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, which, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(holds(in, kCount, from) && is_status(&status, from, 2, kCount));
}

static void world(void) { round_of(MPI_COMM_WORLD); }

static void duplicates(void) {
  for (int at = 0; at < 20; ++at) {
    MPI_Comm own;
    MPI_Comm_dup(comm, &own);
    round_of(own);
    MPI_Comm_free(&own);
  }
}

static void reversed(void) {
  MPI_Comm own;
  MPI_Comm_split(comm, 0, size - rank, &own);
  round_of(own);
  MPI_Comm_free(&own);
}

static void halves(void) {
  MPI_Comm own;
  MPI_Comm_split(comm, rank % 2, 0, &own);
  round_of(own);
  MPI_Comm_free(&own);
}

// The same tags on two communicators stay apart, for probes too.
static void apart(void) {
  float *data = floats(kCount), *in = floats(kCount);
  MPI_Comm own;
  MPI_Status status;
  MPI_Comm_dup(comm, &own);
  if (rank == 0) {
    fill(data, kCount, 1);
    MPI_Send(data, kCount, MPI_FLOAT, 1, 5, comm);
    fill(data, kCount, 2);
    MPI_Send(data, kCount - 9, MPI_FLOAT, 1, 5, own);
  } else if (rank == 1) {
    MPI_Probe(0, 5, own, &status);
    CHECK(is_status(&status, 0, 5, kCount - 9));
    MPI_Probe(0, 5, comm, &status);
    CHECK(is_status(&status, 0, 5, kCount));
    MPI_Recv(in, kCount, MPI_FLOAT, 0, 5, own, &status);
    CHECK(holds(in, kCount - 9, 2));
    MPI_Recv(in, kCount, MPI_FLOAT, 0, 5, comm, &status);
    CHECK(holds(in, kCount, 1));
  }
  MPI_Comm_free(&own);
}

static void freed_in_use(void) {
  float *out = floats(kCount), *in = floats(kCount);
  const int other = rank ^ 1;
  MPI_Comm own;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  fill(out, kCount, rank);
  MPI_Comm_dup(comm, &own);
  MPI_Irecv(in, kCount, MPI_FLOAT, other, 1, own, &requests[0]);
  if (rank % 2 == 0) MPI_Isend(out, kCount, MPI_FLOAT, other, 1, own, &requests[1]);
  if (rank % 2 == 1) {
    MPI_Recv(floats(1), 1, MPI_FLOAT, other, 2, comm, MPI_STATUS_IGNORE);
    MPI_Isend(out, kCount, MPI_FLOAT, other, 1, own, &requests[1]);
  }
  MPI_Comm_free(&own);
  CHECK(own == MPI_COMM_NULL);
  if (rank % 2 == 0) MPI_Send(out, 1, MPI_FLOAT, other, 2, comm);
  MPI_Waitall(2, requests, statuses);
  CHECK(holds(in, kCount, other) && is_status(&statuses[0], other, 1, kCount));
}

static void between_groups(void) {
  float *out = floats(kCount), *in = floats(kCount);
  MPI_Comm half, between;
  MPI_Status status;
  MPI_Message message;
  int me = 0;
  MPI_Comm_split(comm, rank / 2, 0, &half);
  MPI_Intercomm_create(half, 0, comm, rank < 2 ? 2 : 0, 3, &between);
  MPI_Comm_rank(between, &me);
  // Ranks name the remote group's processes: mine has the same number over there.
  const int partner = rank < 2 ? rank + 2 : rank - 2;
  fill(out, kCount, rank);
  MPI_Sendrecv(out, kCount, MPI_FLOAT, me, 1, in, kCount, MPI_FLOAT, me, 1, between, &status);
  CHECK(holds(in, kCount, partner) && is_status(&status, me, 1, kCount));
  MPI_Request request;
  for (int way = 0; way < 3; ++way) {
    fill(in, kCount, 9);
    MPI_Isend(out, kCount, MPI_FLOAT, me, 2, between, &request);
    if (way == 0) MPI_Recv(in, kCount, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, between, &status);
    if (way == 1) {
      MPI_Probe(MPI_ANY_SOURCE, 2, between, &status);
      CHECK(is_status(&status, me, 2, kCount));
      MPI_Recv(in, kCount, MPI_FLOAT, me, 2, between, &status);
    }
    if (way == 2) {
      MPI_Mprobe(MPI_ANY_SOURCE, 2, between, &message, &status);
      MPI_Mrecv(in, kCount, MPI_FLOAT, &message, &status);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(holds(in, kCount, partner) && is_status(&status, me, 2, kCount));
  }
  MPI_Comm merged;
  MPI_Intercomm_merge(between, rank < 2, &merged);
  round_of(merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

static int copies;

static int count_copies(MPI_Comm which, int key, void* extra, void* in, void* out, int* flag) {
  (void)which, (void)key, (void)extra, (void)in, (void)out;
  ++copies;
  *flag = 0;
  return MPI_SUCCESS;
}

// Nobody but the program duplicates what the program has put its attributes on.
static void attributes_are_the_programs(void) {
  float* data = floats(2 * kCount);
  int key = MPI_KEYVAL_INVALID;
  MPI_Datatype type;
  MPI_Comm_create_keyval(count_copies, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, data);
  MPI_Type_vector(kCount, 1, 2, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  MPI_Sendrecv_replace(data, 1, type, rank ^ 1, 0, rank ^ 1, 0, comm, MPI_STATUS_IGNORE);
  CHECK(copies == 0);
  MPI_Type_free(&type);
  MPI_Comm_delete_attr(MPI_COMM_SELF, key);
  MPI_Comm_free_keyval(&key);
}

static const Case kCases[] = {
    {"attributes_are_the_programs", attributes_are_the_programs},
    {"world", world},
    {"duplicates", duplicates},
    {"reversed", reversed},
    {"halves", halves},
    {"apart", apart},
    {"communicator_freed_in_use", freed_in_use},
    {"between_groups", between_groups},
};
FAMILY(communicators, 4, 0);
