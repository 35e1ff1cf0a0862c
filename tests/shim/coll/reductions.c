// Reductions.
#include "coll.h"

static double reduced(MPI_Op op, long at) {
  if (op == MPI_SUM) return total(1, at);
  return op == MPI_MIN ? value(0, 1, at) : value(size - 1, 1, at);
}

// Checks reductions of leaves alone: MPI knows no sum of a type with gaps.
void reductions(long count) {
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
        release(in), release(out);
      }
    }
  }
}

void scattered_reductions(long count) {
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
      release(in), release(out);
    }
  }
  end_lists(&of);
}
