// Blocking collectives: what each rank gets, in place too, with gaps kept.
#include <string.h>

#include "conformance.h"

enum { kCount = 300, kRanks = 3, kStride = 3 };

// The value that rank `from` puts at `at` for rank `to`; sums of these are exact.
static float value(int from, int to, int at) { return (float)(from * 100000 + to * 10000 + at); }

static void write(float* data, int count, int from, int to) {
  for (int at = 0; at < count; ++at) data[at] = value(from, to, at);
}

static int is(const float* data, int count, int from, int to) {
  for (int at = 0; at < count; ++at) {
    if (data[at] != value(from, to, at)) return 0;
  }
  return 1;
}

// The sum of all ranks' values for `to`, from `first` on.
static int is_sum(const float* data, int count, int ranks, int to, int first) {
  for (int at = 0; at < count; ++at) {
    float sum = 0;
    for (int from = 0; from < ranks; ++from) sum += value(from, to, first + at);
    if (data[at] != sum) return 0;
  }
  return 1;
}

static void broadcasts(void) {
  float* data = floats(kCount + 1);
  for (int root = 0; root < kRanks; ++root) {
    write(data, kCount, rank, 0);
    data[kCount] = -1;
    CHECK(MPI_Bcast(data, kCount, MPI_FLOAT, root, comm) == MPI_SUCCESS);
    CHECK(is(data, kCount, root, 0) && data[kCount] == -1);
  }
  CHECK(MPI_Bcast(data, 0, MPI_FLOAT, 0, comm) == MPI_SUCCESS);
  CHECK(is(data, kCount, kRanks - 1, 0));
}

static void broadcast_with_gaps(void) {
  float* data = floats(kStride * kCount);
  MPI_Datatype type;
  MPI_Type_vector(kCount, 1, kStride, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  for (int at = 0; at < kStride * kCount; ++at) data[at] = (float)(rank * 1000 + at);
  MPI_Bcast(data, 1, type, 1, comm);
  for (int at = 0; at < kStride * kCount; ++at) {
    CHECK(data[at] == (float)((at % kStride ? rank : 1) * 1000 + at));
  }
  MPI_Type_free(&type);
}

static void reductions(void) {
  float *in = floats(kCount), *out = floats(kCount);
  write(in, kCount, rank, 0);
  write(out, kCount, 7, 7);
  MPI_Reduce(in, out, kCount, MPI_FLOAT, MPI_SUM, 1, comm);
  CHECK(rank == 1 ? is_sum(out, kCount, kRanks, 0, 0) : is(out, kCount, 7, 7));
  MPI_Allreduce(in, out, kCount, MPI_FLOAT, MPI_SUM, comm);
  CHECK(is_sum(out, kCount, kRanks, 0, 0) && is(in, kCount, rank, 0));
  MPI_Scan(in, out, kCount, MPI_FLOAT, MPI_SUM, comm);
  CHECK(is_sum(out, kCount, rank + 1, 0, 0));
  write(out, kCount, 7, 7);
  MPI_Exscan(in, out, kCount, MPI_FLOAT, MPI_SUM, comm);
  CHECK(rank == 0 ? is(out, kCount, 7, 7) : is_sum(out, kCount, rank, 0, 0));
}

static void reductions_in_place(void) {
  float* data = floats(kCount);
  write(data, kCount, rank, 0);
  MPI_Reduce(rank == 2 ? MPI_IN_PLACE : data, rank == 2 ? data : NULL, kCount, MPI_FLOAT, MPI_SUM,
             2, comm);
  CHECK(rank == 2 ? is_sum(data, kCount, kRanks, 0, 0) : is(data, kCount, rank, 0));
  write(data, kCount, rank, 0);
  MPI_Allreduce(MPI_IN_PLACE, data, kCount, MPI_FLOAT, MPI_SUM, comm);
  CHECK(is_sum(data, kCount, kRanks, 0, 0));
  write(data, kCount, rank, 0);
  MPI_Scan(MPI_IN_PLACE, data, kCount, MPI_FLOAT, MPI_SUM, comm);
  CHECK(is_sum(data, kCount, rank + 1, 0, 0));
}

static void scattered_reductions(void) {
  const int counts[kRanks] = {100, 0, 200};
  const int first = rank == 2 ? 100 : 0;
  float *in = floats(kCount), *out = floats(kCount);
  write(in, kCount, rank, 0);
  MPI_Reduce_scatter(in, out, counts, MPI_FLOAT, MPI_SUM, comm);
  CHECK(is_sum(out, counts[rank], kRanks, 0, first));
  MPI_Reduce_scatter_block(in, out, kCount / kRanks, MPI_FLOAT, MPI_SUM, comm);
  CHECK(is_sum(out, kCount / kRanks, kRanks, 0, rank * (kCount / kRanks)));
  MPI_Reduce_scatter_block(MPI_IN_PLACE, in, kCount / kRanks, MPI_FLOAT, MPI_SUM, comm);
  CHECK(is_sum(in, kCount / kRanks, kRanks, 0, rank * (kCount / kRanks)));
}

static void gathers(void) {
  float *in = floats(kCount), *out = floats(kRanks * kCount);
  write(in, kCount, rank, 0);
  MPI_Gather(in, kCount, MPI_FLOAT, out, kCount, MPI_FLOAT, 1, comm);
  for (int from = 0; from < kRanks && rank == 1; ++from) {
    CHECK(is(out + from * kCount, kCount, from, 0));
  }
  if (rank != 1) CHECK(out[0] == 0);
  write(out + rank * kCount, kCount, rank, 5);
  MPI_Gather(rank == 0 ? MPI_IN_PLACE : out + rank * kCount, kCount, MPI_FLOAT, out, kCount,
             MPI_FLOAT, 0, comm);
  for (int from = 0; from < kRanks && rank == 0; ++from) {
    CHECK(is(out + from * kCount, kCount, from, 5));
  }
}

static void gathers_to_all(void) {
  float *in = floats(kCount), *out = floats(kRanks * kCount);
  write(in, kCount, rank, 0);
  MPI_Allgather(in, kCount, MPI_FLOAT, out, kCount, MPI_FLOAT, comm);
  for (int from = 0; from < kRanks; ++from) CHECK(is(out + from * kCount, kCount, from, 0));
  for (int at = 0; at < kRanks * kCount; ++at) out[at] = -1;
  write(out + rank * kCount, kCount, rank, 1);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, kCount, MPI_FLOAT, comm);
  for (int from = 0; from < kRanks; ++from) CHECK(is(out + from * kCount, kCount, from, 1));
}

// Blocks of different lengths, out of order, with room between them.
static const int kCounts[kRanks] = {50, 0, 120}, kPlaces[kRanks] = {200, 10, 20};

static int blocks_arrived(const float* out, int to) {
  int right = 1;
  for (int from = 0; from < kRanks; ++from) {
    right = right && is(out + kPlaces[from], kCounts[from], from, to);
  }
  return right && out[0] == -1 && out[150] == -1 && out[250] == -1;
}

static void gathers_of_different_lengths(void) {
  float *in = floats(kCount), *out = floats(kCount);
  write(in, kCount, rank, 0);
  for (int at = 0; at < kCount; ++at) out[at] = -1;
  MPI_Gatherv(in, kCounts[rank], MPI_FLOAT, out, kCounts, kPlaces, MPI_FLOAT, 2, comm);
  if (rank == 2) CHECK(blocks_arrived(out, 0));
  for (int at = 0; at < kCount; ++at) out[at] = -1;
  MPI_Allgatherv(in, kCounts[rank], MPI_FLOAT, out, kCounts, kPlaces, MPI_FLOAT, comm);
  CHECK(blocks_arrived(out, 0));
}

static void scatters(void) {
  float *in = floats(kRanks * kCount), *out = floats(kCount);
  for (int to = 0; to < kRanks; ++to) write(in + to * kCount, kCount, rank, to);
  MPI_Scatter(in, kCount, MPI_FLOAT, out, kCount, MPI_FLOAT, 1, comm);
  CHECK(is(out, kCount, 1, rank));
  MPI_Scatter(in, kCount, MPI_FLOAT, rank == 2 ? MPI_IN_PLACE : out, kCount, MPI_FLOAT, 2, comm);
  CHECK(rank == 2 || is(out, kCount, 2, rank));
  for (int to = 0; to < kRanks; ++to) write(in + kPlaces[to], kCounts[to], rank, to);
  MPI_Scatterv(in, kCounts, kPlaces, MPI_FLOAT, out, kCounts[rank], MPI_FLOAT, 0, comm);
  CHECK(is(out, kCounts[rank], 0, rank));
}

static void all_to_all(void) {
  float *in = floats(kRanks * kCount), *out = floats(kRanks * kCount);
  for (int to = 0; to < kRanks; ++to) write(in + to * kCount, kCount, rank, to);
  MPI_Alltoall(in, kCount, MPI_FLOAT, out, kCount, MPI_FLOAT, comm);
  for (int from = 0; from < kRanks; ++from) CHECK(is(out + from * kCount, kCount, from, rank));
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, kCount, MPI_FLOAT, comm);
  for (int from = 0; from < kRanks; ++from) CHECK(is(in + from * kCount, kCount, from, rank));
  int mine[kRanks], places[kRanks];
  for (int to = 0; to < kRanks; ++to) mine[to] = kCounts[rank];
  for (int to = 0; to < kRanks; ++to) places[to] = to * kCount;
  for (int to = 0; to < kRanks; ++to) write(in + to * kCount, kCount, rank, to);
  for (int at = 0; at < kRanks * kCount; ++at) out[at] = -1;
  MPI_Alltoallv(in, mine, places, MPI_FLOAT, out, kCounts, kPlaces, MPI_FLOAT, comm);
  CHECK(blocks_arrived(out, rank));
}

// Each rank has a block for each other one, with a type of its own, which says how far its floats
// are apart; a block lies before the buffer's address or after it, and some are empty.
enum { kAddress = 600, kFloats = 1500 };
static int length_between(int peer) { return kCounts[(rank + peer) % kRanks]; }
static int stride_between(int peer, int side) { return 1 + (rank + peer + side) % kRanks; }
static int place_of(int peer) { return (1 - peer) * 500 + 7; }

typedef struct TypedBlocks {
  int counts[kRanks], places[kRanks];
  MPI_Datatype types[kRanks];
} TypedBlocks;

static TypedBlocks typed_blocks(int side) {
  TypedBlocks made;
  for (int peer = 0; peer < kRanks; ++peer) {
    const int length = length_between(peer), stride = stride_between(peer, side);
    made.places[peer] = place_of(peer) * (int)sizeof(float);
    made.counts[peer] = stride == 3 ? length > 0 : length;
    if (stride == 3) {
      MPI_Type_vector(length, 1, stride, MPI_FLOAT, &made.types[peer]);
    } else {
      MPI_Type_create_resized(MPI_FLOAT, 0, stride * (MPI_Aint)sizeof(float), &made.types[peer]);
    }
    MPI_Type_commit(&made.types[peer]);
  }
  return made;
}

static void free_types(TypedBlocks* made) {
  for (int peer = 0; peer < kRanks; ++peer) MPI_Type_free(&made->types[peer]);
}

// Leaves what lies between the floats.
static void write_blocks(float* data, int side, int received) {
  for (int peer = 0; peer < kRanks; ++peer) {
    for (int at = 0; at < length_between(peer); ++at) {
      data[kAddress + place_of(peer) + at * stride_between(peer, side)] =
          received ? value(peer, rank, at) : value(rank, peer, at);
    }
  }
}

static void all_to_all_of_types(void) {
  for (int in_place = 0; in_place < 2; ++in_place) {
    float *in = floats(kFloats), *out = floats(kFloats), wanted[kFloats];
    const int side = in_place ? 0 : 1;
    TypedBlocks sent = typed_blocks(0), received = typed_blocks(side);
    for (int at = 0; at < kFloats; ++at) in[at] = out[at] = wanted[at] = -1;
    write_blocks(in_place ? out : in, 0, 0);
    write_blocks(wanted, side, 1);
    if (in_place) {
      MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, out + kAddress, received.counts,
                    received.places, received.types, comm);
    } else {
      MPI_Alltoallw(in + kAddress, sent.counts, sent.places, sent.types, out + kAddress,
                    received.counts, received.places, received.types, comm);
    }
    CHECK(memcmp(out, wanted, sizeof wanted) == 0);
    free_types(&sent), free_types(&received);
  }
}

// Exchanged, and added up part by part; products are others.
static void complex_numbers(void) {
  enum { kPairs = kCount / 2 };
  float *in = floats(kRanks * kCount), *out = floats(kRanks * kCount);
  for (int to = 0; to < kRanks; ++to) write(in + to * kCount, kCount, rank, to);
  MPI_Alltoall(in, kPairs, MPI_C_FLOAT_COMPLEX, out, kPairs, MPI_C_FLOAT_COMPLEX, comm);
  for (int from = 0; from < kRanks; ++from) CHECK(is(out + from * kCount, kCount, from, rank));
  write(in, kCount, rank, 0);
  MPI_Allreduce(in, out, kPairs, MPI_C_FLOAT_COMPLEX, MPI_SUM, comm);
  CHECK(is_sum(out, kCount, kRanks, 0, 0));
  for (int at = 0; at < kCount; ++at) in[at] = (float)(at % 2);
  MPI_Allreduce(in, out, kPairs, MPI_C_FLOAT_COMPLEX, MPI_PROD, comm);  // i * i * i
  for (int at = 0; at < kCount; ++at) CHECK(out[at] == (at % 2 ? -1.0F : 0.0F));
}

// Columns: elements that interleave.
static void gathers_columns(void) {
  float *in = floats(kCount), *out = floats((kRanks + 1) * kCount);
  MPI_Datatype spread, column;
  MPI_Type_vector(kCount, 1, kRanks + 1, MPI_FLOAT, &spread);
  MPI_Type_create_resized(spread, 0, sizeof(float), &column);
  MPI_Type_commit(&column);
  write(in, kCount, rank, 0);
  for (int at = 0; at < (kRanks + 1) * kCount; ++at) out[at] = -1;
  MPI_Allgather(in, kCount, MPI_FLOAT, out, 1, column, comm);
  for (int at = 0; at < (kRanks + 1) * kCount; ++at) {
    const int from = at % (kRanks + 1);
    CHECK(out[at] == (from < kRanks ? value(from, 0, at / (kRanks + 1)) : -1));
  }
  MPI_Type_free(&column);
  MPI_Type_free(&spread);
}

// A message beside them, so that a preload library has something of its own to do.
static void between_messages(void) {
  float *data = floats(kCount), *sum = floats(kCount);
  write(data, kCount, rank, 0);
  MPI_Sendrecv_replace(data, kCount, MPI_FLOAT, (rank + 1) % kRanks, 0,
                       (rank + kRanks - 1) % kRanks, 0, comm, MPI_STATUS_IGNORE);
  CHECK(is(data, kCount, (rank + kRanks - 1) % kRanks, 0));
  MPI_Allreduce(data, sum, kCount, MPI_FLOAT, MPI_SUM, comm);
  CHECK(is_sum(sum, kCount, kRanks, 0, 0));
}

static const Case kCases[] = {
    {"broadcasts", broadcasts},
    {"broadcast_with_gaps", broadcast_with_gaps},
    {"reductions", reductions},
    {"reductions_in_place", reductions_in_place},
    {"scattered_reductions", scattered_reductions},
    {"gathers", gathers},
    {"gathers_to_all", gathers_to_all},
    {"gathers_of_different_lengths", gathers_of_different_lengths},
    {"scatters", scatters},
    {"all_to_all", all_to_all},
    {"all_to_all_of_types", all_to_all_of_types},
    {"gathers_columns", gathers_columns},
    {"complex_numbers", complex_numbers},
    {"between_messages", between_messages},
};
FAMILY(collectives, 3, 0);
