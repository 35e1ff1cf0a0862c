// Collectives with blocks of lengths of their own.
#include <stdlib.h>

#include "coll.h"

Lists lists(long count, int by_own) {
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
void end_lists(Lists* made) {
  free(made->counts), free(made->places), free(made->bytes), free(made->types);
}

void gathers_of_lengths(long count) {
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
    release(out);
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
    release(in), release(out), release(all);
  }
  end_lists(&of);
}

void exchanges_of_lengths(long count) {
  Lists of = lists(count, 1);  // what goes from one rank to another is as long as the way back
  for (int typed = 0; typed < 2; ++typed) {
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
    release(in), release(out);
  }
  end_lists(&of);
}
