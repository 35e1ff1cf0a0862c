// coll_types CASE: one type signature by datatypes that differ from rank to rank, where MPI lets
// them: whether a collective is compressed must come out equal on all ranks all the same, or the
// program hangs. Three ranks or more. Prints "all right" on each.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif

enum { kCount = 2000, kMostRanks = 8 };

static int rank, size, mistakes;
static const MPI_Comm kWorld = MPI_COMM_WORLD;

static float value(int from, int to, int at) {
  return (float)(from * 64 + to) + (float)(at / 5 % 9);
}

static float* fresh(int blocks) {
  float* data = malloc(sizeof(float) * kCount * (size_t)blocks);
  for (int at = 0; at < kCount * blocks; ++at) data[at] = -1;
  return data;
}
static void fill(float* data, int from, int to) {
  for (int at = 0; at < kCount; ++at) data[at] = value(from, to, at);
}
static void expect(const float* data, int from, int to) {
  for (int at = 0; at < kCount; ++at) mistakes += data[at] != value(from, to, at);
}

static MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}
static MPI_Datatype structure(int members, const int counts[], const MPI_Aint places[],
                              const MPI_Datatype types[]) {
  MPI_Datatype made;
  MPI_Type_create_struct(members, counts, places, types, &made);
  return committed(made);
}

static void broadcast_as(const void* buffer, float* data, int count, MPI_Datatype type) {
  for (int root = 0; root < size; ++root) {
    fill(data, rank, 0);
    MPI_Bcast((void*)buffer, count, type, root, kWorld);
    expect(data, root, 0);
  }
}

// ---- One signature ----

// Members of no elements say nothing.
static void zero_members(void) {
  float* data = fresh(1);
  MPI_Datatype nothing, made = MPI_FLOAT;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  const int counts[] = {0, kCount, 3, 0};
  const MPI_Aint places[] = {0, 0, 4, 8};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_FLOAT, nothing, MPI_CHAR};
  if (rank == 1) made = structure(4, counts, places, types);
  if (rank == 2) made = structure(3, counts, places, types);
  broadcast_as(data, data, rank == 1 || rank == 2 ? 1 : kCount, made);
  if (made != MPI_FLOAT) MPI_Type_free(&made);
  MPI_Type_free(&nothing);
  free(data);
}

static void bounds_and_duplicates(void) {
  float* data = fresh(1);
  MPI_Datatype made = MPI_FLOAT, block;
  int count = kCount;
  if (rank == 0) MPI_Type_dup(MPI_FLOAT, &made);
  if (rank == 1) {
    MPI_Type_contiguous(kCount / 2, MPI_FLOAT, &block);
    MPI_Type_create_resized(block, -64, kCount / 2 * (MPI_Aint)sizeof(float), &made);
    MPI_Type_free(&block);
    count = 2;
  }
  if (rank == 2) {
    MPI_Type_create_hvector(kCount, 1, sizeof(float), MPI_FLOAT, &made);
    count = 1;
  }
  broadcast_as(data, data, count, rank < 3 ? committed(made) : made);
  if (rank < 3) MPI_Type_free(&made);
  free(data);
}

static void absolute_addresses(void) {
  float* data = fresh(1);
  MPI_Aint place;
  MPI_Get_address(data, &place);
  const int counts[] = {kCount};
  const MPI_Datatype types[] = {MPI_FLOAT};
  MPI_Datatype made = structure(1, counts, &place, types);
  const int absolute = rank == 1;
  broadcast_as(absolute ? MPI_BOTTOM : data, data, absolute ? 1 : kCount,
               absolute ? made : MPI_FLOAT);
  MPI_Type_free(&made);
  free(data);
}

static void pairs(void) {
  float* data = fresh(1);
  broadcast_as(data, data, rank == 1 ? kCount / 2 : kCount, rank == 1 ? MPI_2REAL : MPI_REAL);
  free(data);
}

// The same numbers by a derived type.
static void complex_numbers(void) {
  float* data = fresh(1);
  MPI_Datatype made = MPI_C_FLOAT_COMPLEX;
  if (rank == 1) MPI_Type_contiguous(kCount / 2, MPI_C_FLOAT_COMPLEX, &made);
  broadcast_as(data, data, rank == 1 ? 1 : kCount / 2, rank == 1 ? committed(made) : made);
  if (rank == 1) MPI_Type_free(&made);
  free(data);
}

// Each of `kCount / 2` numbers is multiplied or added up over the ranks, which have it alike.
static void reduce_complex(MPI_Op op) {
  float *in = fresh(1), *out = fresh(1);
  for (int at = 0; at < kCount; at += 2) in[at] = (float)(at % 16), in[at + 1] = 1;
  MPI_Allreduce(in, out, kCount / 2, MPI_C_FLOAT_COMPLEX, op, kWorld);
  for (int at = 0; at < kCount; at += 2) {
    float real = in[at], imaginary = 1;
    for (int each = 1; each < size; ++each) {
      const float next = op == MPI_SUM ? real + in[at] : real * in[at] - imaginary;
      imaginary = op == MPI_SUM ? imaginary + 1 : real + imaginary * in[at];
      real = next;
    }
    mistakes += out[at] != real || out[at + 1] != imaginary;
  }
  free(in), free(out);
}
static void complex_sums(void) { reduce_complex(MPI_SUM); }
static void complex_products(void) { reduce_complex(MPI_PROD); }

// The root's data lie after its memory for the result, and its datatype says so by a displacement:
// both arguments are one address.
static void one_address(void) {
  const MPI_Aint behind = (MPI_Aint)sizeof(float) * kCount * size;
  const int counts[] = {kCount};
  const MPI_Datatype types[] = {MPI_FLOAT};
  MPI_Datatype made = structure(1, counts, &behind, types);
  for (int root = 0; root < size; ++root) {
    float* data = fresh(size + 1);
    float* own = rank == root ? data + kCount * size : data;
    fill(own, rank, 1);
    if (rank == root) {
      MPI_Gather(data, 1, made, data, kCount, MPI_FLOAT, root, kWorld);
      for (int from = 0; from < size; ++from) expect(data + from * kCount, from, 1);
    } else {
      MPI_Gather(data, kCount, MPI_FLOAT, NULL, 0, MPI_FLOAT, root, kWorld);
    }
    expect(own, rank, 1);
    free(data);
  }
  MPI_Type_free(&made);
}

// Who has no part of an Allgatherv names another type for it.
static void nothing_to_gather(void) {
  float *own = fresh(1), *all = fresh(size);
  int counts[kMostRanks], places[kMostRanks];
  for (int at = 0; at < size; ++at) counts[at] = at == 1 ? 0 : kCount, places[at] = at * kCount;
  fill(own, rank, 2);
  MPI_Allgatherv(own, counts[rank], rank == 1 ? MPI_DOUBLE : MPI_FLOAT, all, counts, places,
                 MPI_FLOAT, kWorld);
  for (int from = 0; from < size; ++from) {
    if (from != 1) expect(all + from * kCount, from, 2);
  }
  free(own), free(all);
}

// ---- Signatures that match in pairs ----

typedef struct Exchange {
  int counts[kMostRanks], places[kMostRanks], bytes[kMostRanks];
  MPI_Datatype types[kMostRanks];
  float *in, *out;
} Exchange;

// The last rank has nothing to do with the others.
static Exchange exchange(void) {
  Exchange made;
  const int last = size - 1;
  made.in = fresh(size), made.out = fresh(size);
  for (int at = 0; at < size; ++at) {
    made.counts[at] = (at == last) != (rank == last) ? 0 : kCount;
    made.places[at] = at * kCount;
    made.bytes[at] = at * kCount * (int)sizeof(float);
    made.types[at] = rank == last ? MPI_INT : MPI_FLOAT;
    fill(made.in + at * kCount, rank, at);
  }
  return made;
}
static void end(Exchange* made) {
  for (int at = 0; at < size; ++at) {
    if (made->counts[at] > 0) expect(made->out + at * kCount, at, rank);
    if (made->counts[at] == 0) mistakes += made->out[at * kCount] != -1;
  }
  free(made->in), free(made->out);
}

static void alltoallv(int starts, int own) {
  Exchange made = exchange();
  const MPI_Datatype type = rank == size - 1 ? MPI_INT : MPI_FLOAT;
  MPI_Request request;
  if (!own) made.counts[rank] = 0;
  if (starts) {
    MPI_Ialltoallv(made.in, made.counts, made.places, type, made.out, made.counts, made.places,
                   type, kWorld, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Alltoallv(made.in, made.counts, made.places, type, made.out, made.counts, made.places, type,
                  kWorld);
  }
  end(&made);
}
static void alltoallw(int starts) {
  Exchange made = exchange();
  MPI_Request request;
  if (starts) {
    MPI_Ialltoallw(made.in, made.counts, made.bytes, made.types, made.out, made.counts, made.bytes,
                   made.types, kWorld, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Alltoallw(made.in, made.counts, made.bytes, made.types, made.out, made.counts, made.bytes,
                  made.types, kWorld);
  }
  end(&made);
}

// Floats alone, but of a rank without any.
static void nothing_to_exchange(void) {
  alltoallv(0, 0);
  alltoallv(1, 0);
}
static void floats_and_integers(void) {
  alltoallv(0, 1);
  alltoallw(0);
}
static void started_floats_and_integers(void) {
  alltoallv(1, 1);
  alltoallw(1);
}

static void nothing_to_collect(void) {
  float *own = fresh(1), *all = fresh(size);
  int counts[kMostRanks], places[kMostRanks];
  for (int at = 0; at < size; ++at) counts[at] = at == 1 ? 0 : kCount, places[at] = at * kCount;
  fill(own, rank, 3);
  const MPI_Datatype type = rank == 1 ? MPI_INT : MPI_FLOAT;
  MPI_Gatherv(own, counts[rank], type, all, counts, places, MPI_FLOAT, 0, kWorld);
  for (int from = 0; from < size && rank == 0; ++from) {
    if (from != 1) expect(all + from * kCount, from, 3);
  }
  for (int to = 0; to < size; ++to) fill(all + to * kCount, 0, to);
  MPI_Scatterv(all, counts, places, MPI_FLOAT, own, counts[rank], type, 0, kWorld);
  if (rank != 1) expect(own, 0, rank);
  free(own), free(all);
}

static const struct Case {
  const char* name;
  void (*run)(void);
} kCases[] = {
    {"zero_members", zero_members},
    {"bounds_and_duplicates", bounds_and_duplicates},
    {"absolute_addresses", absolute_addresses},
    {"pairs", pairs},
    {"complex_numbers", complex_numbers},
    {"complex_sums", complex_sums},
    {"complex_products", complex_products},
    {"one_address", one_address},
    {"nothing_to_gather", nothing_to_gather},
    {"nothing_to_exchange", nothing_to_exchange},
    {"floats_and_integers", floats_and_integers},
    {"started_floats_and_integers", started_floats_and_integers},
    {"nothing_to_collect", nothing_to_collect},
};

int main(int argc, char** argv) {
  int provided = 0, ran = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(kWorld, &rank);
  MPI_Comm_size(kWorld, &size);
  // Non-blocking ones enter after a blocking one.
  float* data = fresh(1);
  MPI_Bcast(data, kCount, MPI_FLOAT, 0, kWorld);
  free(data);
  for (size_t at = 0; at < sizeof kCases / sizeof kCases[0] && size <= kMostRanks; ++at) {
    if (argc < 2 || strcmp(argv[1], kCases[at].name) != 0) continue;
    kCases[at].run();
    ++ran;
  }
  if (mistakes == 0 && ran == 1) printf("all right\n");
  MPI_Finalize();
  return mistakes != 0 || ran != 1;
}
