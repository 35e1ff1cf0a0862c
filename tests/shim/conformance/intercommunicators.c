// Four ranks, one on one side and three on the other: every kind of message between two groups,
// whose ranks are not the world's and whose sizes differ.
#include <stdlib.h>

#include "conformance.h"

enum { kCount = 300, kOthers = 3 };

static MPI_Comm between;
static int me, partners;  // my rank on my side, the number of processes on the other

static int alone(void) { return partners == kOthers; }

// A value that names the world's rank of a process on the other side.
static int seed_of(int partner) { return alone() ? partner + 1 : 0; }

static void make(void) {
  MPI_Comm half;
  MPI_Comm_split(comm, rank == 0, 0, &half);
  MPI_Intercomm_create(half, 0, comm, rank == 0 ? 1 : 0, 3, &between);
  MPI_Comm_free(&half);
  MPI_Comm_rank(between, &me);
  MPI_Comm_remote_size(between, &partners);
}

static void with_groups(void (*run)(void)) {
  make();
  run();
  MPI_Comm_free(&between);
}

typedef int (*Send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*StartSend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static const Send kSends[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
static const StartSend kStarts[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
static const StartSend kInits[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};

static void send_by(int way, const float* data, int partner) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (way < 4) kSends[way](data, kCount, MPI_FLOAT, partner, way, between);
  if (way / 4 == 1) kStarts[way % 4](data, kCount, MPI_FLOAT, partner, way, between, &request);
  if (way / 4 == 2) {
    kInits[way % 4](data, kCount, MPI_FLOAT, partner, way, between, &request);
    MPI_Start(&request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

static void every_mode(void) {
  int space = 3 * kOthers * (kCount * (int)sizeof(float) + MPI_BSEND_OVERHEAD);
  void* buffer = malloc((size_t)space);
  float *out = floats(kCount), *in = floats(kOthers * kCount);
  MPI_Buffer_attach(buffer, space);
  for (int way = 0; way < 12; ++way) {
    MPI_Request requests[kOthers];
    MPI_Status statuses[kOthers];
    fill(out, kCount, rank);
    for (int at = 0; at < partners; ++at) {
      MPI_Irecv(in + at * kCount, kCount, MPI_FLOAT, at, way, between, &requests[at]);
    }
    meet();
    for (int at = 0; at < partners; ++at) send_by(way, out, at);
    MPI_Waitall(partners, requests, statuses);
    for (int at = 0; at < partners; ++at) {
      CHECK(holds(in + at * kCount, kCount, seed_of(at)) &&
            is_status(&statuses[at], at, way, kCount));
    }
  }
  MPI_Buffer_detach(&buffer, &space);
  free(buffer);
}

static void receive_any(int way, float* in, MPI_Status* status) {
  MPI_Message message;
  MPI_Request request;
  int flag = 0;
  if (way == 1) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, between, status);
  while (way == 2 && !flag) MPI_Iprobe(MPI_ANY_SOURCE, 4, between, &flag, status);
  if (way == 3) MPI_Mprobe(MPI_ANY_SOURCE, 4, between, &message, status);
  while (way == 4 && !flag) MPI_Improbe(MPI_ANY_SOURCE, 4, between, &flag, &message, status);
  if (way > 0) CHECK(is_status(status, status->MPI_SOURCE, 4, kCount));
  if (way < 3) MPI_Recv(in, kCount, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, between, status);
  if (way == 3) MPI_Mrecv(in, kCount, MPI_FLOAT, &message, status);
  if (way == 4) {
    MPI_Imrecv(in, kCount, MPI_FLOAT, &message, &request);
    MPI_Wait(&request, status);
  }
}

static void wildcards(void) {
  float *out = floats(kCount), *in = floats(kCount);
  fill(out, kCount, rank);
  for (int way = 0; way < 5; ++way) {
    MPI_Request requests[kOthers];
    MPI_Status status;
    int seen[kOthers] = {0, 0, 0};
    for (int to = 0; to < partners; ++to) {
      MPI_Isend(out, kCount, MPI_FLOAT, to, 4, between, &requests[to]);
    }
    for (int at = 0; at < partners; ++at) {
      receive_any(way, in, &status);
      const int source = status.MPI_SOURCE;
      CHECK(source >= 0 && source < partners && is_status(&status, source, 4, kCount));
      CHECK(holds(in, kCount, seed_of(source)));
      ++seen[source];
    }
    MPI_Waitall(partners, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < partners; ++at) CHECK(seen[at] == 1);
    meet();
  }
}

static void persistent(void) {
  float *out = floats(kCount), *in = floats(kOthers * kCount);
  MPI_Request requests[2 * kOthers];
  for (int at = 0; at < partners; ++at) {
    MPI_Send_init(out, kCount, MPI_FLOAT, at, 5, between, &requests[at]);
    MPI_Recv_init(in + at * kCount, kCount, MPI_FLOAT, at, 5, between, &requests[partners + at]);
  }
  for (int round = 0; round < 5; ++round) {
    fill(out, kCount, rank + round);
    MPI_Startall(2 * partners, requests);
    MPI_Waitall(2 * partners, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < partners; ++at) {
      CHECK(holds(in + at * kCount, kCount, seed_of(at) + round));
    }
  }
  for (int at = 0; at < 2 * partners; ++at) MPI_Request_free(&requests[at]);
}

static void cancelled(void) {
  float* data = floats(kCount);
  MPI_Request request;
  MPI_Status status;
  int was_cancelled = 0;
  for (int source = 0; source < partners; ++source) {
    MPI_Irecv(data, kCount, MPI_FLOAT, source, 6, between, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &was_cancelled);
    CHECK(was_cancelled);
  }
  meet();
  fill(data, kCount, rank);
  if (alone()) {
    for (int at = 0; at < partners; ++at) MPI_Send(data, kCount, MPI_FLOAT, at, 6, between);
  } else {
    MPI_Recv(data, kCount, MPI_FLOAT, 0, 6, between, &status);
    CHECK(holds(data, kCount, 0) && is_status(&status, 0, 6, kCount));
  }
}

// A rank of the other side, not of mine.
static void wrong_ranks(void) {
  float* data = floats(kCount);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Send(data, kCount, MPI_FLOAT, partners, 0, between)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Isend(data, kCount, MPI_FLOAT, partners, 0, between, &request)) ==
        MPI_ERR_RANK);
  CHECK(class_of(MPI_Recv(data, kCount, MPI_FLOAT, partners, 0, between, &status)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Probe(partners, 0, between, &status)) == MPI_ERR_RANK);
  wildcards();
}

static void duplicated(void) {
  const MPI_Comm first = between;
  for (int round = 0; round < 3; ++round) {
    MPI_Comm_dup(first, &between);
    wildcards();
    MPI_Comm_free(&between);
  }
  between = first;
  wildcards();
}

// Blocking, or begun and waited for.
static void cast(float* data, int root, int started) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (!started) MPI_Bcast(data, kCount, MPI_FLOAT, root, between);
  if (started) MPI_Ibcast(data, kCount, MPI_FLOAT, root, between, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// From the last of the three to the one, while the other two have no part.
static void casts(int started) {
  const int last = kOthers - 1;
  float* data = floats(kCount);
  fill(data, kCount, 50 + rank);
  cast(data, alone() ? last : me == last ? MPI_ROOT : MPI_PROC_NULL, started);
  CHECK(holds(data, kCount, 50 + (alone() ? seed_of(last) : rank)));
  fill(data, kCount, 60 + rank);
  cast(data, alone() ? MPI_ROOT : 0, started);
  CHECK(holds(data, kCount, 60));
}

static void gathers(int started) {
  MPI_Request request = MPI_REQUEST_NULL;
  float *data = floats(kCount), *all = floats(kOthers * kCount);
  fill(data, kCount, rank);
  if (!started) MPI_Allgather(data, kCount, MPI_FLOAT, all, kCount, MPI_FLOAT, between);
  if (started) {
    MPI_Iallgather(data, kCount, MPI_FLOAT, all, kCount, MPI_FLOAT, between, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int at = 0; at < partners; ++at) {
    CHECK(holds(all + at * kCount, kCount, seed_of(at)));
  }
}

static void collectives(void) {
  for (int started = 0; started < 2; ++started) {
    casts(started);
    gathers(started);
  }
}

static void in_collectives(void) { with_groups(collectives); }
static void in_every_mode(void) { with_groups(every_mode); }
static void from_any_source(void) { with_groups(wildcards); }
static void by_persistent_requests(void) { with_groups(persistent); }
static void with_cancelled_receives(void) { with_groups(cancelled); }
static void to_wrong_ranks(void) { with_groups(wrong_ranks); }
static void on_duplicates(void) { with_groups(duplicated); }

static const Case kCases[] = {
    {"between_groups_in_every_mode", in_every_mode},
    {"between_groups_from_any_source", from_any_source},
    {"between_groups_by_persistent_requests", by_persistent_requests},
    {"between_groups_with_cancelled_receives", with_cancelled_receives},
    {"between_groups_to_wrong_ranks", to_wrong_ranks},
    {"between_groups_on_duplicates", on_duplicates},
    {"between_groups_in_collectives", in_collectives},
};
FAMILY(intercommunicators, 4, 0);
