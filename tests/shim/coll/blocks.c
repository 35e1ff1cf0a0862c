// Collectives with blocks of one length.
#include "coll.h"

void broadcasts(long count) {
  for (int root = 0; root < size; ++root) {
    void* data = fresh(count);
    if (rank == root) write_block(data, 0, count, root, 1);
    MPI_Bcast(data, (int)count, kind->type, root, comm);
    expect_block("bcast", data, 0, count, root, 1);
    expect_end("bcast", data, count);
    release(data);
  }
}

// One block from each rank, and one to each.
void gathers(long count) {
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
      release(in), release(out);
    }
  }
}

void scatters(long count) {
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
      release(in), release(out);
    }
  }
}

void exchanges(long count) {
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
    release(in), release(out);
  }
}

// The same floats by different types on different ranks.
void mixed_types(long count) {
  MPI_Datatype whole;
  MPI_Type_contiguous((int)count, kind->leaf, &whole);
  MPI_Type_commit(&whole);
  void* data = fresh(count);
  if (kind->stride == 1) {
    write_block(data, 0, count, rank, 1);
    MPI_Bcast(data, rank % 2 ? 1 : (int)count, rank % 2 ? whole : kind->leaf, size - 1, comm);
    expect_block("bcast of types", data, 0, count, size - 1, 1);
  }
  release(data);
  MPI_Type_free(&whole);
}
