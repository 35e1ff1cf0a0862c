// coll_in_flight: random collectives of floats and doubles, most of them non-blocking and many on
// their way at once, on communicators that are made anew, so that ranks agree on costs while others
// are on their way. Calls come in one order on all ranks; when a rank makes them, and in which
// order it waits for them, is its own. Data shrinks in some calls and not in others. Every result
// is compared with what it must be. Prints "all right" on each rank.
//
// coll_in_flight SEED
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "coll/memory.h"

enum { kSteps = 240, kStepsOfCommunicators = 60, kAtOnce = 12, kMostRanks = 8, kMost = 6000 };
enum { kBcast, kAllgather, kAllreduce, kAlltoallv, kScattered, kGather, kKinds };

static int rank, size, mistakes;

static uint64_t next(uint64_t* state) {
  uint64_t value = *state += 0x9E3779B97F4A7C15U;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9U;
  value = (value ^ value >> 27) * 0x94D049BB133111EBU;
  return value ^ value >> 31;
}
static int below(uint64_t* state, int end) { return (int)(next(state) % (uint64_t)end); }

typedef struct Call {
  MPI_Request request;
  MPI_Comm comm;
  int number, kind, wide, count, root, noisy, persistent;
  int counts[kMostRanks], places[kMostRanks];
  void *in, *out;
} Call;

// The value that `from` has for `to`; values are whole numbers, whose sums are exact.
static double value(const Call* call, int from, int to, int at) {
  uint64_t state = (uint64_t)at + 1000003U * (uint64_t)call->number;
  const int part = call->noisy ? below(&state, 60000) : at / 64 % 50;
  return part + 7 * from + 3 * to + call->number % 10;
}

static void put(const Call* call, void* array, int at, double wanted) {
  if (call->wide) ((double*)array)[at] = wanted;
  if (!call->wide) ((float*)array)[at] = (float)wanted;
}

static void expect(const Call* call, int at, double wanted) {
  const double got = call->wide ? ((double*)call->out)[at] : ((float*)call->out)[at];
  if (got == wanted || ++mistakes > 5) return;
  printf("rank %d: call %d of kind %d at %d: %g, not %g\n", rank, call->number, call->kind, at, got,
         wanted);
}

static void fill(Call* call) {
  for (int to = 0; to < size; ++to) {
    for (int at = 0; at < call->count; ++at) {
      put(call, call->in, to * call->count + at, value(call, rank, to, at));
      put(call, call->out, to * call->count + at, -1);
    }
  }
  for (int at = 0; at < call->count && call->kind == kBcast && rank == call->root; ++at) {
    put(call, call->out, at, value(call, rank, 0, at));
  }
}

static double sum(const Call* call, int to, int at) {
  double all = 0;
  for (int from = 0; from < size; ++from) all += value(call, from, to, at);
  return all;
}

static void check(const Call* call) {
  for (int at = 0; at < call->count; ++at) {
    if (call->kind == kBcast) expect(call, at, value(call, call->root, 0, at));
    if (call->kind == kAllreduce) expect(call, at, sum(call, 0, at));
    if (call->kind == kScattered) expect(call, at, sum(call, rank, at));
    for (int from = 0; from < size; ++from) {
      const int place = from * call->count + at;
      const int gathers = call->kind == kGather && rank == call->root;
      if (call->kind == kAllgather || gathers) expect(call, place, value(call, from, 0, at));
      if (call->kind == kAlltoallv) expect(call, place, value(call, from, rank, at));
    }
  }
}

static void begin(Call* call) {
  const MPI_Datatype type = call->wide ? MPI_DOUBLE : MPI_FLOAT;
  const int count = call->count;
  for (int at = 0; at < size; ++at) call->counts[at] = count, call->places[at] = at * count;
  if (call->kind == kBcast) {
    MPI_Ibcast(call->out, count, type, call->root, call->comm, &call->request);
  } else if (call->kind == kAllgather) {
    MPI_Iallgather(call->in, count, type, call->out, count, type, call->comm, &call->request);
  } else if (call->kind == kAllreduce) {
    MPI_Iallreduce(call->in, call->out, count, type, MPI_SUM, call->comm, &call->request);
  } else if (call->kind == kAlltoallv) {
    MPI_Ialltoallv(call->in, call->counts, call->places, type, call->out, call->counts,
                   call->places, type, call->comm, &call->request);
  } else if (call->kind == kScattered) {
    MPI_Ireduce_scatter_block(call->in, call->out, count, type, MPI_SUM, call->comm,
                              &call->request);
  } else {
    MPI_Igather(call->in, count, type, call->out, count, type, call->root, call->comm,
                &call->request);
  }
}

#ifdef SHIM_TEST_PERSISTENT
static void begin_persistent(Call* call) {
  const MPI_Datatype type = call->wide ? MPI_DOUBLE : MPI_FLOAT;
  if (call->kind == kBcast) {
    MPI_Bcast_init(call->out, call->count, type, call->root, call->comm, MPI_INFO_NULL,
                   &call->request);
  } else {
    MPI_Allreduce_init(call->in, call->out, call->count, type, MPI_SUM, call->comm, MPI_INFO_NULL,
                       &call->request);
  }
  MPI_Start(&call->request);
}
#endif

static Call* make(uint64_t* all, MPI_Comm comm, int number) {
  static const int counts[] = {40, 700, 3000, kMost};
  Call* const call = malloc(sizeof *call);
  call->comm = comm;
  call->number = number;
  call->kind = below(all, kKinds);
  call->wide = below(all, 2);
  call->count = counts[below(all, 4)];
  call->root = below(all, size);
  call->noisy = below(all, 3) == 0;
  call->persistent = 0;
  call->in = allocate(sizeof(double) * kMost * (size_t)size);
  call->out = allocate(sizeof(double) * kMost * (size_t)size);
#ifdef SHIM_TEST_PERSISTENT
  call->persistent = below(all, 5) == 0;
  if (call->persistent && call->kind != kBcast) call->kind = kAllreduce;
#endif
  fill(call);
#ifdef SHIM_TEST_PERSISTENT
  if (call->persistent) begin_persistent(call);
#endif
  if (!call->persistent) begin(call);
  return call;
}

static void finish(Call* call) {
  MPI_Wait(&call->request, MPI_STATUS_IGNORE);
  check(call);
  if (call->persistent) MPI_Request_free(&call->request);
  release(call->in);
  release(call->out);
  free(call);
}

// A blocking one among the others: of no floats, of few, of some.
static void block(uint64_t* all, MPI_Comm comm) {
  static float data[kMost];
  static double sums[kMost];
  const int kind = below(all, 4);
  for (int at = 0; at < kMost; ++at) data[at] = (float)(at / 64), sums[at] = at / 64;
  if (kind == 0) MPI_Barrier(comm);
  if (kind == 1) MPI_Bcast(data, 10, MPI_FLOAT, 0, comm);
  if (kind == 2) MPI_Bcast(data, kMost, MPI_FLOAT, size - 1, comm);
  if (kind == 3) MPI_Allreduce(MPI_IN_PLACE, sums, kMost, MPI_DOUBLE, MPI_SUM, comm);
  mistakes += data[kMost - 1] != (float)((kMost - 1) / 64);
  mistakes += kind == 3 && sums[kMost - 1] != size * ((kMost - 1) / 64);
}

static void rest(uint64_t* own) {
  const struct timespec time = {0, below(own, 1000000)};
  if (below(own, 4) == 0) nanosleep(&time, NULL);
}

static void run(uint64_t* all, uint64_t* own, MPI_Comm comms[2], int first) {
  Call* calls[kAtOnce];
  int pending = 0;
  for (int step = first; step < first + kStepsOfCommunicators; ++step) {
    MPI_Comm comm = comms[below(all, 2)];
    rest(own);
    if (below(all, 5) == 0) block(all, comm);
    calls[pending++] = make(all, comm, step);
    // All ranks have as many on their way; which of them each waits for is its own.
    while (pending > 0 && (pending == kAtOnce || below(all, 3) == 0)) {
      const int at = below(own, pending);
      finish(calls[at]);
      calls[at] = calls[--pending];
    }
  }
  while (pending > 0) finish(calls[--pending]);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  uint64_t all = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  uint64_t own = all * 100 + (uint64_t)rank;
  if (size > kMostRanks) return 1;
  for (int first = 0; first < kSteps; first += kStepsOfCommunicators) {
    MPI_Comm comms[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    run(&all, &own, comms, first);
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
  }
  if (mistakes == 0) printf("all right\n");
  MPI_Finalize();
  return mistakes != 0;
}
