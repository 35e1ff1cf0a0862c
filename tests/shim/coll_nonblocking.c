// coll_nonblocking: every non-blocking collective that carries floats, several on their way at
// once, on two communicators in another order on each rank, with a type freed and lists of counts
// and places overwritten before they are complete (Open MPI 4.1 does not bear a communicator
// freed). Prints "all right" on each rank.
//
// coll_nonblocking [serialized] [late]: a blocking collective of floats comes first on each
// communicator, or with "late" non-blocking ones and then a blocking one of no floats.
#include <stdio.h>
#include <string.h>

#include "coll/memory.h"

enum { kCount = 3000, kRounds = 5, kMostRanks = 16, kCalls = 17 };

static int rank, size, mistakes;

static float value(int from, int to, int at) {
  return (float)(from * 16 + to) + 0.25F * (float)(at / 3 % 32);
}
static float* fresh(int blocks, int from) {
  float* data = allocate(sizeof(float) * kCount * (size_t)blocks);
  for (int at = 0; at < kCount * blocks; ++at) data[at] = value(from, at / kCount, at % kCount);
  return data;
}
static void expect(const char* what, const float* data, int block, int from, int to) {
  for (int at = 0; at < kCount; ++at) {
    if (data[block * kCount + at] == value(from, to, at)) continue;
    if (++mistakes < 5) {
      printf("rank %d: %s: block %d at %d: %g instead of %g\n", rank, what, block, at,
             data[block * kCount + at], value(from, to, at));
    }
    return;
  }
}
static void expect_sum(const char* what, const float* data, int block) {
  for (int at = 0; at < kCount; ++at) {
    float sum = 0;
    for (int from = 0; from < size; ++from) sum += value(from, block, at);
    if (data[at] == sum) continue;
    if (++mistakes < 5) printf("rank %d: %s at %d: %g, not %g\n", rank, what, at, data[at], sum);
    return;
  }
}

// The requests and arrays of one round on one communicator.
typedef struct Round {
  MPI_Request requests[kCalls];
  float *in, *cast, *all, *root_all, *part, *exchanged, *sum, *root_sum, *block, *listed, *own;
  float *collected, *dealt, *swapped, *typed, *scattered, *before, *up_to;
  int counts[kMostRanks], places[kMostRanks], packed[kMostRanks], bytes[kMostRanks];
  MPI_Datatype types[kMostRanks];
} Round;

static void make_lists(Round* round) {
  for (int at = 0; at < size; ++at) {
    round->counts[at] = kCount;
    round->places[at] = (size - 1 - at) * kCount;
    round->packed[at] = at * kCount;
    round->bytes[at] = at * kCount * (int)sizeof(float);
    round->types[at] = MPI_FLOAT;
  }
}

// No call may look at them any more.
static void forget_lists(Round* round) {
  for (int at = 0; at < size; ++at) {
    round->counts[at] = round->places[at] = round->packed[at] = round->bytes[at] = -1;
    round->types[at] = MPI_DATATYPE_NULL;
  }
}

static void begin_of_lists(Round* round, MPI_Comm comm, MPI_Request* next) {
  round->collected = fresh(size, 99);
  round->dealt = fresh(1, 99);
  round->swapped = fresh(size, 99);
  round->typed = fresh(size, 99);
  round->scattered = fresh(1, 99);
  MPI_Igatherv(round->own, kCount, MPI_FLOAT, round->collected, round->counts, round->places,
               MPI_FLOAT, 0, comm, next++);
  MPI_Iscatterv(round->in, round->counts, round->packed, MPI_FLOAT, round->dealt, kCount, MPI_FLOAT,
                0, comm, next++);
  MPI_Ialltoallv(round->in, round->counts, round->packed, MPI_FLOAT, round->swapped, round->counts,
                 round->places, MPI_FLOAT, comm, next++);
  MPI_Ialltoallw(round->in, round->counts, round->bytes, round->types, round->typed, round->counts,
                 round->bytes, round->types, comm, next++);
  MPI_Ireduce_scatter(round->in, round->scattered, round->counts, MPI_FLOAT, MPI_SUM, comm, next++);
}

static void begin(Round* round, MPI_Comm comm) {
  MPI_Datatype type, every_second;
  MPI_Request* next = round->requests;
  MPI_Type_contiguous(kCount, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  MPI_Type_vector(kCount / 2, 1, 2, MPI_FLOAT, &every_second);
  MPI_Type_commit(&every_second);
  make_lists(round);
  round->in = fresh(size, rank);
  round->cast = fresh(1, rank);
  round->all = fresh(size, 99);
  round->root_all = fresh(size, 99);
  round->part = fresh(1, 99);
  round->exchanged = fresh(size, 99);
  round->sum = fresh(1, rank);
  round->root_sum = fresh(1, 99);
  round->block = fresh(1, 99);
  round->listed = fresh(size, 99);
  round->own = fresh(1, rank);
  round->before = fresh(1, rank);
  round->up_to = fresh(1, 99);
  MPI_Ibcast(round->cast, 1, every_second, size - 1, comm, next++);
  MPI_Type_free(&every_second);
  MPI_Iallgather(round->own, kCount, MPI_FLOAT, round->all, 1, type, comm, next++);
  MPI_Type_free(&type);
  MPI_Igather(round->own, kCount, MPI_FLOAT, round->root_all, kCount, MPI_FLOAT, 0, comm, next++);
  MPI_Iscatter(round->in, kCount, MPI_FLOAT, round->part, kCount, MPI_FLOAT, 0, comm, next++);
  MPI_Ialltoall(round->in, kCount, MPI_FLOAT, round->exchanged, kCount, MPI_FLOAT, comm, next++);
  MPI_Iallreduce(MPI_IN_PLACE, round->sum, kCount, MPI_FLOAT, MPI_SUM, comm, next++);
  MPI_Ireduce(round->own, round->root_sum, kCount, MPI_FLOAT, MPI_SUM, size - 1, comm, next++);
  MPI_Ireduce_scatter_block(round->in, round->block, kCount, MPI_FLOAT, MPI_SUM, comm, next++);
  MPI_Iallgatherv(round->own, kCount, MPI_FLOAT, round->listed, round->counts, round->places,
                  MPI_FLOAT, comm, next++);
  MPI_Iexscan(round->own, round->before, kCount, MPI_FLOAT, MPI_SUM, comm, next++);
  MPI_Iscan(round->own, round->up_to, kCount, MPI_FLOAT, MPI_SUM, comm, next++);
  MPI_Ibarrier(comm, next++);
  begin_of_lists(round, comm, next);
  forget_lists(round);
}

// Checks the values that were broadcast, and that those between them are the old ones.
static void expect_cast(const float* data) {
  for (int at = 0; at < kCount; ++at) {
    const float wanted = value(at % 2 == 0 ? size - 1 : rank, 0, at);
    if (data[at] == wanted || ++mistakes >= 5) continue;
    printf("rank %d: ibcast at %d: %g instead of %g\n", rank, at, (double)data[at], (double)wanted);
  }
}

// The first rank's part of an exclusive scan keeps the rank's own values, as before.
static void expect_scans(const float* before, const float* up_to) {
  for (int at = 0; at < kCount; ++at) {
    float sum = 0;
    for (int from = 0; from < rank; ++from) sum += value(from, 0, at);
    const float own = value(rank, 0, at);
    mistakes += before[at] != (rank == 0 ? own : sum);
    mistakes += up_to[at] != sum + own;
  }
}

static void finish(Round* round) {
  MPI_Waitall(kCalls, round->requests, MPI_STATUSES_IGNORE);
  expect_cast(round->cast);
  expect_scans(round->before, round->up_to);
  for (int from = 0; from < size; ++from) {
    expect("iallgather", round->all, from, from, 0);
    if (rank == 0) expect("igather", round->root_all, from, from, 0);
    expect("ialltoall", round->exchanged, from, from, rank);
    expect("iallgatherv", round->listed, size - 1 - from, from, 0);
    if (rank == 0) expect("igatherv", round->collected, size - 1 - from, from, 0);
    expect("ialltoallv", round->swapped, size - 1 - from, from, rank);
    expect("ialltoallw", round->typed, from, from, rank);
  }
  expect("iscatter", round->part, 0, 0, rank);
  expect("iscatterv", round->dealt, 0, 0, rank);
  expect_sum("iallreduce", round->sum, 0);
  if (rank == size - 1) expect_sum("ireduce", round->root_sum, 0);
  expect_sum("ireduce_scatter_block", round->block, rank);
  expect_sum("ireduce_scatter", round->scattered, rank);
  float* all[] = {round->in,        round->cast,      round->all,   round->root_all,  round->part,
                  round->sum,       round->root_sum,  round->block, round->exchanged, round->own,
                  round->listed,    round->collected, round->dealt, round->swapped,   round->typed,
                  round->scattered, round->before,    round->up_to};
  for (int at = 0; at < (int)(sizeof all / sizeof all[0]); ++at) release(all[at]);
}

// A blocking one of each communicator, among the others.
static void broadcast(MPI_Comm comm) {
  float* data = fresh(1, rank);
  MPI_Bcast(data, kCount, MPI_FLOAT, 0, comm);
  expect("bcast", data, 0, 0, 0);
  release(data);
}

static void begin_late(MPI_Comm comm, int with_barrier) {
  Round round;
  int ranks = 0;
  begin(&round, comm);
  finish(&round);
  if (with_barrier) {
    MPI_Barrier(comm);
    return;
  }
  MPI_Allreduce(&(int){1}, &ranks, 1, MPI_INT, MPI_SUM, comm);
  mistakes += ranks != size;
}

int main(int argc, char** argv) {
  int provided = 0, late = 0, wanted = MPI_THREAD_MULTIPLE;
  for (int at = 1; at < argc; ++at) {
    if (strcmp(argv[at], "serialized") == 0) wanted = MPI_THREAD_SERIALIZED;
    if (strcmp(argv[at], "late") == 0) late = 1;
  }
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int at = 0; at < kRounds && size <= kMostRanks; ++at) {
    MPI_Comm comms[2];
    Round rounds[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    for (int each = 0; each < 2; ++each) {
      if (late) begin_late(comms[each], each);
      if (!late) broadcast(comms[each]);
    }
    begin(&rounds[rank % 2], comms[rank % 2]);
    begin(&rounds[1 - rank % 2], comms[1 - rank % 2]);
    broadcast(comms[0]);
    finish(&rounds[1]);
    finish(&rounds[0]);
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
  }
  if (mistakes == 0) printf("all right\n");
  MPI_Finalize();
  return mistakes != 0;
}
