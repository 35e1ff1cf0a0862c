// coll_persistent: every persistent collective that carries floats, made once and started over and
// over with new values, in another order on each rank, beside blocking and non-blocking ones, with
// types freed and lists overwritten at once. Prints "all right" on each rank.
//
// coll_persistent [serialized] [keep] [groups]: "keep" keeps lists and frees types at the end only,
// because Open MPI 5 loses them otherwise; "groups" completes requests by calls for several as
// well, and starts them once more after their communicator was freed: MPICH 5 and Open MPI 5 get
// the one or the other wrong for persistent collectives of their own.
#include <stdio.h>
#include <string.h>

#include "coll/memory.h"

enum { kCount = 3000, kStarts = 6, kMostRanks = 16, kCalls = 15, kCommunicators = 2 };

static int rank, size, mistakes, groups, keep;

static float value(int round, int from, int to, int at) {
  return (float)(round * 256 + from * 16 + to) + 0.25F * (float)(at / 3 % 32);
}
static void fill(float* data, int round, int from) {
  for (int at = 0; at < kCount * size; ++at) {
    data[at] = value(round, from, at / kCount, at % kCount);
  }
}
static void expect_value(const char* what, float got, float wanted, int at) {
  if (got == wanted || ++mistakes > 5) return;
  printf("rank %d: %s at %d: %g instead of %g\n", rank, what, at, (double)got, (double)wanted);
}
static void expect(const char* what, const float* data, int block, int round, int from, int to) {
  for (int at = 0; at < kCount; ++at) {
    expect_value(what, data[block * kCount + at], value(round, from, to, at), at);
  }
}
static void expect_sum(const char* what, const float* data, int round, int block) {
  for (int at = 0; at < kCount; ++at) {
    float sum = 0;
    for (int from = 0; from < size; ++from) sum += value(round, from, block, at);
    expect_value(what, data[at], sum, at);
  }
}

// The requests and arrays of one communicator. Arrays of each call lie apart; `in` is read by many.
typedef struct Set {
  MPI_Comm comm;
  MPI_Request requests[kCalls];
  float *in, *out[kCalls];
  int counts[kMostRanks], places[kMostRanks], packed[kMostRanks], bytes[kMostRanks];
  MPI_Datatype types[kMostRanks], block;
} Set;

enum {
  kBcast,
  kAllgather,
  kGather,
  kScatter,
  kAlltoall,
  kAllreduce,
  kReduce,
  kScatteredBlock,
  kScattered,
  kAllgatherv,
  kGatherv,
  kScatterv,
  kAlltoallv,
  kAlltoallw,
  kBarrier
};

static void make_lists(Set* set) {
  for (int at = 0; at < size; ++at) {
    set->counts[at] = kCount;
    set->places[at] = (size - 1 - at) * kCount;
    set->packed[at] = at * kCount;
    set->bytes[at] = at * kCount * (int)sizeof(float);
    set->types[at] = MPI_FLOAT;
  }
}

static void forget_lists(Set* set) {
  for (int at = 0; at < size && !keep; ++at) {
    set->counts[at] = set->places[at] = set->packed[at] = set->bytes[at] = -1;
    set->types[at] = MPI_DATATYPE_NULL;
  }
}

static void make_of_lists(Set* set) {
  MPI_Comm comm = set->comm;
  MPI_Request* made = set->requests;
  MPI_Reduce_scatter_init(set->in, set->out[kScattered], set->counts, MPI_FLOAT, MPI_SUM, comm,
                          MPI_INFO_NULL, &made[kScattered]);
  MPI_Allgatherv_init(set->in, kCount, MPI_FLOAT, set->out[kAllgatherv], set->counts, set->places,
                      MPI_FLOAT, comm, MPI_INFO_NULL, &made[kAllgatherv]);
  MPI_Gatherv_init(set->in, kCount, MPI_FLOAT, set->out[kGatherv], set->counts, set->places,
                   MPI_FLOAT, 0, comm, MPI_INFO_NULL, &made[kGatherv]);
  MPI_Scatterv_init(set->in, set->counts, set->packed, MPI_FLOAT, set->out[kScatterv], kCount,
                    MPI_FLOAT, 0, comm, MPI_INFO_NULL, &made[kScatterv]);
  MPI_Alltoallv_init(set->in, set->counts, set->packed, MPI_FLOAT, set->out[kAlltoallv],
                     set->counts, set->places, MPI_FLOAT, comm, MPI_INFO_NULL, &made[kAlltoallv]);
  MPI_Alltoallw_init(set->in, set->counts, set->bytes, set->types, set->out[kAlltoallw],
                     set->counts, set->bytes, set->types, comm, MPI_INFO_NULL, &made[kAlltoallw]);
}

static void make(Set* set) {
  MPI_Comm comm = set->comm;
  MPI_Request* made = set->requests;
  MPI_Type_contiguous(kCount, MPI_FLOAT, &set->block);
  MPI_Type_commit(&set->block);
  make_lists(set);
  set->in = allocate(sizeof(float) * kCount * (size_t)size);
  for (int at = 0; at < kCalls; ++at) {
    set->out[at] = allocate(sizeof(float) * kCount * (size_t)size);
    fill(set->out[at], 99, 0);
  }
  MPI_Bcast_init(set->out[kBcast], 1, set->block, size - 1, comm, MPI_INFO_NULL, &made[kBcast]);
  MPI_Allgather_init(set->in, kCount, MPI_FLOAT, set->out[kAllgather], 1, set->block, comm,
                     MPI_INFO_NULL, &made[kAllgather]);
  if (!keep) MPI_Type_free(&set->block);
  MPI_Gather_init(set->in, kCount, MPI_FLOAT, set->out[kGather], kCount, MPI_FLOAT, 0, comm,
                  MPI_INFO_NULL, &made[kGather]);
  MPI_Scatter_init(set->in, kCount, MPI_FLOAT, set->out[kScatter], kCount, MPI_FLOAT, 0, comm,
                   MPI_INFO_NULL, &made[kScatter]);
  MPI_Alltoall_init(set->in, kCount, MPI_FLOAT, set->out[kAlltoall], kCount, MPI_FLOAT, comm,
                    MPI_INFO_NULL, &made[kAlltoall]);
  MPI_Allreduce_init(MPI_IN_PLACE, set->out[kAllreduce], kCount, MPI_FLOAT, MPI_SUM, comm,
                     MPI_INFO_NULL, &made[kAllreduce]);
  MPI_Reduce_init(set->in, set->out[kReduce], kCount, MPI_FLOAT, MPI_SUM, size - 1, comm,
                  MPI_INFO_NULL, &made[kReduce]);
#ifdef SHIM_TEST_LARGE_COUNTS
  MPI_Reduce_scatter_block_init_c(set->in, set->out[kScatteredBlock], kCount, MPI_FLOAT, MPI_SUM,
                                  comm, MPI_INFO_NULL, &made[kScatteredBlock]);
#else
  MPI_Reduce_scatter_block_init(set->in, set->out[kScatteredBlock], kCount, MPI_FLOAT, MPI_SUM,
                                comm, MPI_INFO_NULL, &made[kScatteredBlock]);
#endif
  make_of_lists(set);
  forget_lists(set);
  MPI_Barrier_init(comm, MPI_INFO_NULL, &made[kBarrier]);
}

static void check(const Set* set, int round) {
  float* const* out = set->out;
  expect("bcast", out[kBcast], 0, round, size - 1, 0);
  for (int from = 0; from < size; ++from) {
    expect("allgather", out[kAllgather], from, round, from, 0);
    expect("allgatherv", out[kAllgatherv], size - 1 - from, round, from, 0);
    expect("alltoall", out[kAlltoall], from, round, from, rank);
    expect("alltoallv", out[kAlltoallv], size - 1 - from, round, from, rank);
    expect("alltoallw", out[kAlltoallw], from, round, from, rank);
    if (rank != 0) continue;
    expect("gather", out[kGather], from, round, from, 0);
    expect("gatherv", out[kGatherv], size - 1 - from, round, from, 0);
  }
  expect("scatter", out[kScatter], 0, round, 0, rank);
  expect("scatterv", out[kScatterv], 0, round, 0, rank);
  expect_sum("allreduce", out[kAllreduce], round, 0);
  if (rank == size - 1) expect_sum("reduce", out[kReduce], round, 0);
  expect_sum("reduce_scatter_block", out[kScatteredBlock], round, rank);
  expect_sum("reduce_scatter", out[kScattered], round, rank);
}

// The barrier is the MPI's own, which needs its communicator.
static int calls_of(const Set* set) { return set->comm == MPI_COMM_NULL ? kBarrier : kCalls; }

// All at once, or one by one in an order of this rank's own, which MPI allows.
static void start(Set* set, int round) {
  fill(set->in, round, rank);
  fill(set->out[kBcast], round, rank);
  fill(set->out[kAllreduce], round, rank);
  if (round % 3 == 0) {
    MPI_Startall(calls_of(set), set->requests);
    return;
  }
  for (int at = 0; at < calls_of(set); ++at) {
    MPI_Start(&set->requests[(at + rank) % calls_of(set)]);
  }
}

static void finish_groups(MPI_Request* requests, int testing) {
  int flag = 0, index = 0;
  while (testing && !flag) MPI_Testall(kBarrier, requests, &flag, MPI_STATUSES_IGNORE);
  for (int at = 0; at < kBarrier && !testing; ++at) {
    MPI_Waitany(kBarrier, requests, &index, MPI_STATUS_IGNORE);
    if (index == MPI_UNDEFINED) expect_value("waitany", 0, 1, at);
  }
  MPI_Waitany(kBarrier, requests, &index, MPI_STATUS_IGNORE);
  if (index != MPI_UNDEFINED) expect_value("waitany of inactive requests", 0, 1, index);
}

static void finish(Set* set, int round) {
  if (round % 3 == 0) MPI_Waitall(calls_of(set), set->requests, MPI_STATUSES_IGNORE);
  if (round % 3 != 0 && groups) finish_groups(set->requests, round % 3 == 1);
  for (int at = 0; at < calls_of(set); ++at) {
    int flag = round % 3 == 2;
    if (flag) MPI_Wait(&set->requests[at], MPI_STATUS_IGNORE);
    while (!flag) MPI_Test(&set->requests[at], &flag, MPI_STATUS_IGNORE);
    if (set->requests[at] == MPI_REQUEST_NULL) expect_value("a request", 0, 1, at);
  }
  check(set, round);
}

static void cast_beside(MPI_Comm comm, int round) {
  float* data = allocate(sizeof(float) * kCount * (size_t)size);
  MPI_Request request;
  fill(data, round, rank);
  MPI_Bcast(data, kCount, MPI_FLOAT, 0, comm);
  expect("bcast beside", data, 0, round, 0, 0);
  fill(data, round, rank);
  MPI_Ibcast(data, kCount, MPI_FLOAT, 0, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("ibcast beside", data, 0, round, 0, 0);
  release(data);
}

static void end(Set* set) {
  for (int at = 0; at < kCalls; ++at) {
    MPI_Request_free(&set->requests[at]);
    if (set->requests[at] != MPI_REQUEST_NULL) expect_value("request_free", 0, 1, at);
    release(set->out[at]);
  }
  release(set->in);
  if (keep) MPI_Type_free(&set->block);
  if (set->comm != MPI_COMM_NULL) MPI_Comm_free(&set->comm);
}

int main(int argc, char** argv) {
  int provided = 0;
  Set sets[kCommunicators];
  int wanted = MPI_THREAD_MULTIPLE;
  for (int at = 1; at < argc; ++at) {
    if (strcmp(argv[at], "serialized") == 0) wanted = MPI_THREAD_SERIALIZED;
    if (strcmp(argv[at], "groups") == 0) groups = 1;
    if (strcmp(argv[at], "keep") == 0) keep = 1;
  }
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > kMostRanks) return 1;
  for (int at = 0; at < kCommunicators; ++at) {
    MPI_Comm_dup(MPI_COMM_WORLD, &sets[at].comm);
    make(&sets[at]);
  }
  for (int round = 0; round < kStarts; ++round) {
    start(&sets[rank % 2], round);
    start(&sets[1 - rank % 2], round);
    cast_beside(sets[0].comm, round);
    finish(&sets[1], round);
    finish(&sets[0], round);
  }
  for (int at = 0; at < kCommunicators && groups; ++at) {
    MPI_Comm_free(&sets[at].comm);
    start(&sets[at], kStarts);
    finish(&sets[at], kStarts);
  }
  for (int at = 0; at < kCommunicators; ++at) end(&sets[at]);
  if (mistakes == 0) printf("all right\n");
  MPI_Finalize();
  return mistakes != 0;
}
