// coll_ordered [LARGEST [0 [exact]]]: reductions of floats whose sums depend on the order of
// additions, blocking, non-blocking and persistent, of several types, operations and sizes. Every
// result is compared, bit for bit, with what MPI_Reduce_local makes of the ranks' values in the
// order of the ranks. Prints "all right" on each rank, or how many calls came to something else.
// With 0 nothing is asked of persistent calls: MPICH 4 gets its own wrong. With "exact" sums of
// floats, doubles and complex numbers of these are compared with the exact total, rounded once.
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Kind {
  const char* name;
  MPI_Datatype type;
  int bytes, compared;  // of an element; a long double has bytes that nobody writes
  int floats;           // 4, 8 or 16 bytes each
  int is_complex;
} Kind;

enum { kKinds = 6, kCalls = 6 };
static const char* const kNames[kCalls] = {
    "allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"};

static int rank, size, mistakes, asks_persistent = 1, is_exact;
static char *in, *out, *wanted, *others;
static int* counts;

static uint64_t mixed(uint64_t seed) {
  seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9U;
  seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebU;
  return seed ^ (seed >> 31);
}

enum { kDrawn = 1 << 16 };
static double drawn[kDrawn];

// Values of both signs, over 2^-8 to 2^8, so that any other order of additions shows.
static void draw_values(void) {
  for (int at = 0; at < kDrawn; ++at) {
    const uint64_t bits = mixed((uint64_t)at + 1);
    double found = 1 + (double)(bits >> 12) / 4503599627370496.0;
    for (int times = (int)(bits & 15) - 8; times != 0; times += times < 0 ? 1 : -1) {
      found *= times < 0 ? 0.5 : 2;
    }
    drawn[at] = (bits & 16) != 0 ? -found : found;
  }
}

static double value(int from, int round, long at) {
  return drawn[(at + (long)from * 9973 + (long)round * 6151) % kDrawn];
}

static void fill(const Kind* kind, char* to, int from, int round, long count) {
  const long each = kind->is_complex ? 2 : 1;
  for (long at = 0; at < count * each; ++at) {
    double one = value(from, round, at);
    // Some that no two doubles hold together.
    if (is_exact && at % 5 == 0) one *= (at + from) % 3 == 0 ? 1152921504606846976.0 : 1;
    if (is_exact && at % 35 == 0 && kind->floats > 4) one *= from % 2 == 0 ? 1e60 : 1e-60;
    if (kind->floats == 4) ((float*)to)[at] = (float)one;
    if (kind->floats == 8) ((double*)to)[at] = one;
    if (kind->floats == 16) ((long double*)to)[at] = (long double)one / 3;
  }
}

// The exact sum of doubles, rounded to a float or a double once: parts that do not overlap, the
// largest last.
static void add_exactly(const double* values, int count, int floats, char* to) {
  double parts[64];
  int kept = 0;
  for (int at = 0; at < count; ++at) {
    double sum = values[at];
    int before = kept;
    kept = 0;
    for (int part = 0; part < before; ++part) {
      const double a = sum, b = parts[part];
      sum = a + b;
      const double of_b = sum - a, rest = (a - (sum - of_b)) + (b - of_b);
      if (rest != 0) parts[kept++] = rest;
    }
    parts[kept++] = sum;
  }
  double top = parts[kept - 1], rest = 0;
  for (int part = kept - 1; part-- > 0 && rest == 0;) {
    const double sum = top + parts[part];
    rest = parts[part] - (sum - top);
    top = sum;
    if (rest != 0 && floats == 8 && part > 0 && (rest < 0) == (parts[part - 1] < 0)) {
      // A tie, by two parts, that the next one breaks.
      const double twice = 2 * rest, other = top + twice;
      if (other - top == twice) top = other;
    }
  }
  uint64_t bits;
  memcpy(&bits, &top, sizeof bits);
  if (floats == 4 && rest != 0 && bits % 2 == 0) {  // to odd: the float is rounded once
    bits += (rest < 0) == (top < 0) ? 1 : -1;
    memcpy(&top, &bits, sizeof bits);
  }
  if (floats == 4) *(float*)to = (float)top;
  if (floats == 8) *(double*)to = top;
}

static void fold_exactly(const Kind* kind, int ranks, int round, long count) {
  const long all = count * (kind->is_complex ? 2 : 1);
  double values[64];
  char* const sums = malloc((size_t)all * (size_t)kind->floats);
  char* const of_ranks = malloc((size_t)ranks * (size_t)all * (size_t)kind->floats);
  const size_t bytes = (size_t)all * (size_t)kind->floats;
  for (int from = 0; from < ranks; ++from)
    fill(kind, of_ranks + (size_t)from * bytes, from, round, count);
  for (long at = 0; at < all; ++at) {
    for (int from = 0; from < ranks; ++from) {
      const char* const own = of_ranks + (size_t)from * bytes;
      values[from] = kind->floats == 4 ? ((const float*)own)[at] : ((const double*)own)[at];
    }
    add_exactly(values, ranks, kind->floats, sums + at * kind->floats);
  }
  memcpy(wanted, sums, bytes);
  free(sums), free(of_ranks);
}

// The result of the first `ranks` ranks' values.
static void fold(const Kind* kind, MPI_Op op, int ranks, int round, long count) {
  if (is_exact && op == MPI_SUM && kind->floats < 16)
    return fold_exactly(kind, ranks, round, count);
  for (int from = 0; from < ranks; ++from) {
    fill(kind, from == 0 ? wanted : others, from, round, count);
    if (from > 0) MPI_Reduce_local(others, wanted, (int)count, kind->type, op);
  }
}

static void compare(const Kind* kind, const char* what, const char* found, const char* expected,
                    long count) {
  const int step = kind->compared / (kind->is_complex ? 2 : 1);
  for (long at = 0; at < count * (kind->is_complex ? 2 : 1); ++at) {
    if (memcmp(found + at * kind->floats, expected + at * kind->floats, (size_t)step) == 0)
      continue;
    if (++mistakes <= 3) {
      printf("rank %d: %s of %ld %s is another at %ld\n", rank, what, count, kind->name, at);
    }
    return;
  }
}

static long place_of(int block, long count, int even) {
  long place = 0;
  for (int before = 0; before < block; ++before) place += even ? count / size : counts[before];
  return place;
}

// Blocks of unequal sizes, which make up `count` elements.
static void cut(long count) {
  long left = count;
  for (int block = 0; block < size; ++block) {
    counts[block] = block + 1 == size ? (int)left : (int)(block % 3 == 1 ? 0 : left / 2);
    left -= counts[block];
  }
}

static void check(const Kind* kind, MPI_Op op, int call, const char* how, int round, int root,
                  long count) {
  char what[64];
  snprintf(what, sizeof what, "%s %s", how, kNames[call]);
  const int ranks = call == 4 ? rank + 1 : call == 5 ? rank : size;
  if (ranks == 0 || (call == 1 && rank != root)) return;
  fold(kind, op, ranks, round, count);
  const long block = call == 3 ? count / size : call == 2 ? counts[rank] : count;
  const long place = call == 2 || call == 3 ? place_of(rank, count, call == 3) : 0;
  compare(kind, what, out, wanted + place * kind->bytes, block);
}

static void run_blocking(const Kind* kind, MPI_Op op, int call, int root, long count,
                         int in_place) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const int few = (int)count;
  const int is_there = in_place && (call != 1 || rank == root);
  const void* from = is_there ? MPI_IN_PLACE : in;
  if (is_there) memcpy(out, in, (size_t)count * (size_t)kind->bytes);
  void* const to = call == 1 && rank != root ? NULL : out;
  if (call == 0) MPI_Allreduce(from, to, few, kind->type, op, comm);
  if (call == 1) MPI_Reduce(from, to, few, kind->type, op, root, comm);
  if (call == 2) MPI_Reduce_scatter(from, to, counts, kind->type, op, comm);
  if (call == 3) MPI_Reduce_scatter_block(from, to, few / size, kind->type, op, comm);
  if (call == 4) MPI_Scan(from, to, few, kind->type, op, comm);
  if (call == 5) MPI_Exscan(from, to, few, kind->type, op, comm);
}

static void run_started(const Kind* kind, MPI_Op op, int call, int root, long count) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const int few = (int)count;
  MPI_Request request = MPI_REQUEST_NULL;
  int own[64];
  memcpy(own, counts, sizeof(int) * (size_t)size);
  if (call == 0) MPI_Iallreduce(in, out, few, kind->type, op, comm, &request);
  if (call == 1) MPI_Ireduce(in, out, few, kind->type, op, root, comm, &request);
  if (call == 2) MPI_Ireduce_scatter(in, out, own, kind->type, op, comm, &request);
  if (call == 3) MPI_Ireduce_scatter_block(in, out, few / size, kind->type, op, comm, &request);
  if (call == 4) MPI_Iscan(in, out, few, kind->type, op, comm, &request);
  if (call == 5) MPI_Iexscan(in, out, few, kind->type, op, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void run_persistent(const Kind* kind, MPI_Op op, int call, int root, long count) {
#if MPI_VERSION >= 4
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Info info = MPI_INFO_NULL;
  const int few = (int)count;
  MPI_Request again = MPI_REQUEST_NULL;
  if (call == 0) MPI_Allreduce_init(in, out, few, kind->type, op, comm, info, &again);
  if (call == 1) MPI_Reduce_init(in, out, few, kind->type, op, root, comm, info, &again);
  if (call == 2) MPI_Reduce_scatter_init(in, out, counts, kind->type, op, comm, info, &again);
  if (call == 3)
    MPI_Reduce_scatter_block_init(in, out, few / size, kind->type, op, comm, info, &again);
  if (call == 4) MPI_Scan_init(in, out, few, kind->type, op, comm, info, &again);
  if (call == 5) MPI_Exscan_init(in, out, few, kind->type, op, comm, info, &again);
  for (int round = 3; round < 6; ++round) {
    fill(kind, in, rank, round, count);
    MPI_Start(&again);
    MPI_Wait(&again, MPI_STATUS_IGNORE);
    check(kind, op, call, "persistent", round, root, count);
  }
  MPI_Request_free(&again);
#else
  (void)kind, (void)op, (void)call, (void)root, (void)count;
#endif
}

// Two requests that ranks start in different orders, beside a call that does not block.
static void start_in_any_order(void) {
#if MPI_VERSION >= 4
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Request both[2], beside;
  for (int call = 0; call < 2; ++call) {
    MPI_Allreduce_init((float*)in + call, (float*)out + call, 1, MPI_FLOAT, MPI_SUM, comm,
                       MPI_INFO_NULL, &both[call]);
  }
  int own = rank, all[64];
  for (int round = 0; round < 4; ++round) {
    for (int at = 0; at < 2; ++at) ((float*)in)[at] = (float)(rank + 1 + 1000 * at + round);
    MPI_Start(&both[rank == 0]);
    if (rank == 0) MPI_Start(&both[0]);
    MPI_Iallgather(&own, 1, MPI_INT, all, 1, MPI_INT, comm, &beside);
    if (rank != 0) MPI_Start(&both[1]);
    MPI_Wait(&beside, MPI_STATUS_IGNORE);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    for (int at = 0; at < 2; ++at) {
      const float sum = (float)(size * (size + 1) / 2 + size * (1000 * at + round));
      if (((float*)out)[at] == sum) continue;
      if (++mistakes <= 3) printf("rank %d: request %d of two is wrong\n", rank, at);
    }
    for (int at = 0; at < size; ++at) mistakes += all[at] != at;
  }
  for (int call = 0; call < 2; ++call) MPI_Request_free(&both[call]);
#endif
}

static int handled;
static void note_error(MPI_Comm* comm, int* error, ...) {
  (void)comm, (void)error;
  ++handled;
}

// Operations that a type does not have are refused where the program looks, as ever.
static void refuse(void) {
  MPI_Comm own;
  MPI_Errhandler handler;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_create_errhandler(note_error, &handler);
  MPI_Comm_set_errhandler(own, handler);
  MPI_Allreduce(in, out, 1, MPI_C_DOUBLE_COMPLEX, MPI_MAX, own);
  MPI_Allreduce(in, out, 1, MPI_C_LONG_DOUBLE_COMPLEX, MPI_MIN, own);
  if (handled != 2) {
    printf("rank %d: %d errors were handled\n", rank, handled);
    ++mistakes;
  }
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&own);
}

static void try_calls(const Kind* kind, MPI_Op op, long count, int most) {
  const int root = (int)(count % size);
  cut(count);
  for (int call = 0; call < kCalls; ++call) {
    const long used = call == 3 ? count / size * size : count;
    if (used == 0) continue;
    for (int in_place = 0; in_place < 2; ++in_place) {
      fill(kind, in, rank, in_place, used);
      run_blocking(kind, op, call, root, used, in_place);
      check(kind, op, call, in_place ? "in place" : "blocking", in_place, root, used);
    }
    if (!most) continue;
    fill(kind, in, rank, 2, used);
    run_started(kind, op, call, root, used);
    check(kind, op, call, "non-blocking", 2, root, used);
    if (asks_persistent) run_persistent(kind, op, call, root, used);
  }
}

int main(int argc, char** argv) {
  const long largest = argc > 1 ? atol(argv[1]) : 20000;
  if (argc > 2) asks_persistent = atoi(argv[2]);
  is_exact = argc > 3;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Kind kinds[kKinds] = {{"floats", MPI_FLOAT, 4, 4, 4, 0},
                              {"doubles", MPI_DOUBLE, 8, 8, 8, 0},
                              {"complex floats", MPI_C_FLOAT_COMPLEX, 8, 8, 4, 1},
                              {"complex doubles", MPI_C_DOUBLE_COMPLEX, 16, 16, 8, 1},
                              {"long doubles", MPI_LONG_DOUBLE, 16, 10, 16, 0},
                              {"wide complex", MPI_C_LONG_DOUBLE_COMPLEX, 32, 20, 16, 1}};
  const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
  const size_t bytes = (size_t)(largest > 40000 ? largest : 40000) * 32;
  in = calloc(bytes, 1), out = calloc(bytes, 1);
  wanted = calloc(bytes, 1), others = calloc(bytes, 1);
  counts = calloc((size_t)size + 1, sizeof(int));
  draw_values();
  const long few[] = {1, 2, 17, 3000, 20000};
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int op = 0; op < (kinds[kind].is_complex ? 2 : 4); ++op) {
      for (int at = 0; at < (op == 0 ? 5 : 4); ++at) try_calls(&kinds[kind], ops[op], few[at], 1);
    }
  }
  if (asks_persistent) start_in_any_order();
  refuse();
  if (largest > 20000) try_calls(&kinds[0], MPI_SUM, largest, 0);
  if (mistakes > 0) printf("rank %d: %d calls came to something else\n", rank, mistakes);
  if (mistakes == 0) printf("rank %d: all right\n", rank);
  MPI_Finalize();
  return 0;
}
