// coll [TOLERANCE]: every collective that carries floats, on every root, for several lengths,
// types, layouts and communicators; plain MPI, which knows nothing of compression. Each result is
// compared with what it must be, exactly or within TOLERANCE, and where all ranks get the same, its
// bits with theirs. Prints "all right" on each rank, or the first mistakes.
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostMistakes = 5, kGap = -77 };

// A float type and how its elements lie: `stride` apart.
typedef struct Kind {
  const char* name;
  MPI_Datatype leaf, type;
  int bytes, stride;
} Kind;

static MPI_Comm comm;
static int rank, size, mistakes;
static double tolerance;
static const char* where;
static const Kind* kind;

static void fail(const char* what, long at, double got, double wanted) {
  if (++mistakes > kMostMistakes) return;
  printf("rank %d of %d: %s, %s: %s at %ld: %.9g instead of %.9g\n", rank, size, where, kind->name,
         what, at, got, wanted);
}

static double get(const void* data, long at) {
  return kind->bytes == 4 ? (double)((const float*)data)[at] : ((const double*)data)[at];
}
static void put(void* data, long at, double value) {
  if (kind->bytes == 4) {
    ((float*)data)[at] = (float)value;
  } else {
    ((double*)data)[at] = value;
  }
}

// Exact in every float type, and so are their sums over the ranks.
static double value(int from, int to, long at) {
  return from * 4 + to + 0.25 * (double)((at / 3) % 32);
}
static double total(int to, long at) {
  double sum = 0;
  for (int from = 0; from < size; ++from) sum += value(from, to, at);
  return sum;
}

static void* fresh(long count) {
  void* data = malloc((size_t)(count * kind->stride + 1) * (size_t)kind->bytes);
  for (long at = 0; at <= count * kind->stride; ++at) put(data, at, kGap);
  return data;
}
static void write_block(void* data, long first, long count, int from, int to) {
  for (long at = 0; at < count; ++at) put(data, (first + at) * kind->stride, value(from, to, at));
}
static void expect(const char* what, const void* data, long at, double wanted) {
  const double got = get(data, at * kind->stride);
  if (!(fabs(got - wanted) <= tolerance)) fail(what, at, got, wanted);
  for (int gap = 1; gap < kind->stride; ++gap) {
    const double beside = get(data, at * kind->stride + gap);
    if (beside != kGap) fail("a gap", at, beside, kGap);
  }
}
static void expect_block(const char* what, const void* data, long first, long count, int from,
                         int to) {
  for (long at = 0; at < count; ++at) expect(what, data, first + at, value(from, to, at));
}
static void expect_end(const char* what, const void* data, long count) {
  const double end = get(data, count * kind->stride);
  if (end != kGap) fail(what, count, end, kGap);
}

// All ranks must hold the same bits, right or not.
static void expect_same(const char* what, const void* data, long count) {
  uint64_t hash = 1469598103934665603U, least = 0, most = 0;
  const unsigned char* bytes = data;
  for (long at = 0; at < count * kind->stride * kind->bytes; ++at) {
    hash = (hash ^ bytes[at]) * 1099511628211U;
  }
  MPI_Allreduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, comm);
  MPI_Allreduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, comm);
  if (least != most) fail(what, -1, 0, 0);
}

static void broadcasts(long count) {
  for (int root = 0; root < size; ++root) {
    void* data = fresh(count);
    if (rank == root) write_block(data, 0, count, root, 1);
    MPI_Bcast(data, (int)count, kind->type, root, comm);
    expect_block("bcast", data, 0, count, root, 1);
    expect_end("bcast", data, count);
    free(data);
  }
}

// One block from each rank, and one to each.
static void gathers(long count) {
  for (int root = -1; root < size; ++root) {
    for (int in_place = 0; in_place < 2; ++in_place) {
      const int gets = root < 0 || rank == root;
      const int mine = in_place && gets;
      void *in = fresh(count), *out = fresh(size * count);
      write_block(in, 0, count, rank, 2);
      if (mine) write_block(out, rank * count, count, rank, 2);
      const void* from = mine ? MPI_IN_PLACE : in;
      if (root < 0) {
        MPI_Allgather(from, (int)count, kind->type, out, (int)count, kind->type, comm);
        if (count > 0) expect_same("allgather: other bits", out, size * count);
      } else {
        MPI_Gather(from, (int)count, kind->type, out, (int)count, kind->type, root, comm);
      }
      for (int each = 0; each < size && gets; ++each) {
        expect_block(root < 0 ? "allgather" : "gather", out, each * count, count, each, 2);
      }
      expect_end("gather", out, size * count);
      free(in), free(out);
    }
  }
}

static void scatters(long count) {
  for (int root = 0; root < size; ++root) {
    for (int in_place = 0; in_place < 2; ++in_place) {
      const int mine = in_place && rank == root;
      void *in = fresh(size * count), *out = fresh(count);
      for (int to = 0; to < size && rank == root; ++to)
        write_block(in, to * count, count, root, to);
      MPI_Scatter(in, (int)count, kind->type, mine ? MPI_IN_PLACE : out, (int)count, kind->type,
                  root, comm);
      if (!mine) expect_block("scatter", out, 0, count, root, rank);
      expect_end("scatter", out, count);
      free(in), free(out);
    }
  }
}

static void exchanges(long count) {
  for (int in_place = 0; in_place < 2; ++in_place) {
    void *in = fresh(size * count), *out = fresh(size * count);
    for (int to = 0; to < size; ++to) {
      write_block(in_place ? out : in, to * count, count, rank, to);
    }
    MPI_Alltoall(in_place ? MPI_IN_PLACE : in, (int)count, kind->type, out, (int)count, kind->type,
                 comm);
    for (int from = 0; from < size; ++from) {
      expect_block("alltoall", out, from * count, count, from, rank);
    }
    expect_end("alltoall", out, size * count);
    free(in), free(out);
  }
}

// Blocks of lengths of their own, the last first and with room between them.
typedef struct Lists {
  int *counts, *places, *bytes;
  MPI_Datatype* types;
  long all;
} Lists;

static Lists lists(long count, int by_own) {
  Lists made = {malloc(sizeof(int) * (size_t)size), malloc(sizeof(int) * (size_t)size),
                malloc(sizeof(int) * (size_t)size), malloc(sizeof(MPI_Datatype) * (size_t)size), 2};
  for (int at = size - 1; at >= 0; --at) {
    const int by = by_own ? at + rank : at;
    made.counts[at] = by % 3 == 1 ? 0 : (int)count + by;
    made.places[at] = (int)made.all;
    made.bytes[at] = made.places[at] * kind->stride * kind->bytes;
    made.types[at] = kind->type;
    made.all += made.counts[at] + 2;
  }
  return made;
}
static void end_lists(Lists* made) {
  free(made->counts), free(made->places), free(made->bytes), free(made->types);
}

static void gathers_of_lengths(long count) {
  Lists of = lists(count, 0);
  const int own = of.counts[rank];
  for (int root = -1; root < size; ++root) {
    const int gets = root < 0 || rank == root;
    void *in = fresh(own), *out = fresh(of.all);
    write_block(in, 0, own, rank, 3);
    if (root < 0) {
      MPI_Allgatherv(in, own, kind->type, out, of.counts, of.places, kind->type, comm);
    } else {
      MPI_Gatherv(in, own, kind->type, out, of.counts, of.places, kind->type, root, comm);
    }
    for (int from = 0; from < size && gets; ++from) {
      expect_block("gatherv", out, of.places[from], of.counts[from], from, 3);
      expect("between", out, of.places[from] - 1, kGap);
    }
    free(out);
    out = fresh(own);
    void* all = fresh(of.all);
    for (int to = 0; to < size && root >= 0; ++to) {
      write_block(all, of.places[to], of.counts[to], root, to);
    }
    if (root >= 0) {
      MPI_Scatterv(all, of.counts, of.places, kind->type, out, own, kind->type, root, comm);
      expect_block("scatterv", out, 0, own, root, rank);
      expect_end("scatterv", out, own);
    }
    free(in), free(out), free(all);
  }
  end_lists(&of);
}

static void exchanges_of_lengths(long count) {
  Lists of = lists(count, 1);  // what goes from one rank to another is as long as the way back
  // Open MPI 4.1 takes the displacements of MPI_Alltoallw for elements where a rank is alone.
  for (int typed = 0; typed < (size > 1 ? 2 : 1); ++typed) {
    void *in = fresh(of.all), *out = fresh(of.all);
    for (int to = 0; to < size; ++to) write_block(in, of.places[to], of.counts[to], rank, to);
    if (typed) {
      MPI_Alltoallw(in, of.counts, of.bytes, of.types, out, of.counts, of.bytes, of.types, comm);
    } else {
      MPI_Alltoallv(in, of.counts, of.places, kind->type, out, of.counts, of.places, kind->type,
                    comm);
    }
    for (int from = 0; from < size; ++from) {
      expect_block("alltoallv", out, of.places[from], of.counts[from], from, rank);
      expect("between", out, of.places[from] - 1, kGap);
    }
    free(in), free(out);
  }
  end_lists(&of);
}

static double reduced(MPI_Op op, long at) {
  if (op == MPI_SUM) return total(1, at);
  return op == MPI_MIN ? value(0, 1, at) : value(size - 1, 1, at);
}

// Of leaves alone: MPI knows no sum of a type with gaps.
static void reductions(long count) {
  const MPI_Op ops[] = {MPI_SUM, MPI_MIN, MPI_MAX};
  for (int which = 0; which < 3; ++which) {
    for (int root = -1; root < size; ++root) {
      for (int in_place = 0; in_place < 2; ++in_place) {
        const int gets = root < 0 || rank == root;
        const int mine = in_place && gets;
        void *in = fresh(count), *out = fresh(count);
        write_block(mine ? out : in, 0, count, rank, 1);
        const void* from = mine ? MPI_IN_PLACE : in;
        if (root < 0) {
          MPI_Allreduce(from, out, (int)count, kind->type, ops[which], comm);
          if (count > 0) expect_same("allreduce: other bits", out, count);
        } else {
          MPI_Reduce(from, out, (int)count, kind->type, ops[which], root, comm);
        }
        for (long at = 0; at < count && gets; ++at) {
          expect("reduce", out, at, reduced(ops[which], at));
        }
        expect_end("reduce", out, count);
        free(in), free(out);
      }
    }
  }
}

static void scattered_reductions(long count) {
  Lists of = lists(count, 0);
  for (int listed = 0; listed < 2; ++listed) {
    for (int in_place = 0; in_place < 2; ++in_place) {
      long all = 0, first = 0;
      for (int at = 0; at < size; ++at) {
        if (at == rank) first = all;
        all += listed ? of.counts[at] : count;
      }
      const long own = listed ? of.counts[rank] : count;
      void *in = fresh(all), *out = fresh(in_place ? all : own);
      write_block(in_place ? out : in, 0, all, rank, 1);
      const void* from = in_place ? MPI_IN_PLACE : in;
      if (listed) {
        MPI_Reduce_scatter(from, out, of.counts, kind->type, MPI_SUM, comm);
      } else {
        MPI_Reduce_scatter_block(from, out, (int)count, kind->type, MPI_SUM, comm);
      }
      for (long at = 0; at < own; ++at) expect("reduce-scatter", out, at, total(1, first + at));
      free(in), free(out);
    }
  }
  end_lists(&of);
}

// The same floats by different types on different ranks.
static void mixed_types(long count) {
  MPI_Datatype whole;
  MPI_Type_contiguous((int)count, kind->leaf, &whole);
  MPI_Type_commit(&whole);
  void* data = fresh(count);
  if (kind->stride == 1) {
    write_block(data, 0, count, rank, 1);
    MPI_Bcast(data, rank % 2 ? 1 : (int)count, rank % 2 ? whole : kind->leaf, size - 1, comm);
    expect_block("bcast of types", data, 0, count, size - 1, 1);
  }
  free(data);
  MPI_Type_free(&whole);
}

static void run_all(const char* name, MPI_Comm on) {
  const long counts[] = {0, 1, 7, 333, 5000};
  where = name;
  comm = on;
  MPI_Comm_rank(on, &rank);
  MPI_Comm_size(on, &size);
  for (int at = 0; at < 5; ++at) {
    broadcasts(counts[at]);
    gathers(counts[at]);
    scatters(counts[at]);
    exchanges(counts[at]);
    gathers_of_lengths(counts[at]);
    exchanges_of_lengths(counts[at]);
    if (counts[at] > 0) mixed_types(counts[at]);
    if (kind->stride == 1) reductions(counts[at]);
    if (kind->stride == 1) scattered_reductions(counts[at]);
  }
}

static void run_everywhere(void) {
  MPI_Comm other;
  int world_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  run_all("world", MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &other);
  run_all("every second rank, backwards", other);
  MPI_Comm_free(&other);
  for (int round = 0; round < 2; ++round) {
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    run_all("duplicate", other);
    MPI_Comm_free(&other);
  }
  run_all("itself", MPI_COMM_SELF);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  tolerance = argc > 1 ? atof(argv[1]) : 0;
  Kind kinds[] = {{"float", MPI_FLOAT, MPI_FLOAT, 4, 1},
                  {"double", MPI_DOUBLE, MPI_DOUBLE, 8, 1},
                  {"float with gaps", MPI_FLOAT, MPI_FLOAT, 4, 3}};
  MPI_Type_create_resized(MPI_FLOAT, 0, 3 * 4, &kinds[2].type);
  MPI_Type_commit(&kinds[2].type);
  for (int at = 0; at < 3; ++at) {
    kind = &kinds[at];
    run_everywhere();
  }
  MPI_Type_free(&kinds[2].type);
  if (mistakes == 0) printf("all right\n");
  MPI_Finalize();
  return mistakes != 0;
}
