// coll_same [sealed] [decoded] [lossy]: the collectives that leave the same on all ranks, blocking,
// non-blocking and (MPI 4) persistent, of floats with and without gaps, on values that no lossy
// codec keeps. The bits of all that receive are compared; of a broadcast the root's values must be
// untouched, or with "decoded" those of the others. "sealed": a root's buffer can be read alone.
// "lossy": who receives a broadcast must not have the root's values, or nothing was tried.
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "coll/memory.h"

enum { kForms = MPI_VERSION >= 4 ? 3 : 2, kStride = 3, kMostRanks = 16 };

static int rank, size, mistakes, sealed, decoded, lossy, calls;
static const char* const kFormNames[] = {"blocking", "started", "persistent"};

typedef struct Kind {
  const char* name;
  MPI_Datatype type;
  int stride;  // floats from one to the next
} Kind;

static void fail(const char* what, const Kind* kind, int form, int root) {
  if (++mistakes > 5) return;
  printf("rank %d: %s %s, %s, root %d\n", rank, kFormNames[form], what, kind->name, root);
}

static float value(int from, long at) {
  return (float)(sin(0.003 * (double)at + from) + 0.001 * sin(17.0 * (double)at));
}
static void fill(float* data, const Kind* kind, long first, long count, int from) {
  for (long at = 0; at < count; ++at) data[(first + at) * kind->stride] = value(from, at);
}
static float* fresh(const Kind* kind, long count) {
  float* data = allocate(sizeof(float) * (size_t)(count * kind->stride));
  for (long at = 0; at < count * kind->stride; ++at) data[at] = -7;
  return data;
}
static uint64_t hash_of(const float* data, long count) {
  const unsigned char* bytes = (const unsigned char*)data;
  uint64_t hash = 1469598103934665603U;
  for (size_t at = 0; at < sizeof(float) * (size_t)count; ++at) {
    hash = (hash ^ bytes[at]) * 1099511628211U;
  }
  return hash;
}

// Whether all ranks but `left_out` hold the same, gaps included.
static int is_same(const float* data, const Kind* kind, long count, int left_out) {
  uint64_t all[kMostRanks];
  const uint64_t own = hash_of(data, count * kind->stride);
  MPI_Allgather(&own, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
  const int first = left_out == 0 ? 1 : 0;
  int same = 1;
  for (int at = 0; at < size; ++at) same = same && (at == left_out || all[at] == all[first]);
  return same;
}

static void finish(int form, MPI_Request* request) {
  ++calls;
  if (form == 0) return;
  if (form == 2) MPI_Start(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  if (form == 2) MPI_Request_free(request);
}

// ---- Broadcasts ----

static void broadcast(float* data, const Kind* kind, int count, int root, int form) {
  MPI_Request request;
  if (form == 0) MPI_Bcast(data, count, kind->type, root, MPI_COMM_WORLD);
  if (form == 1) MPI_Ibcast(data, count, kind->type, root, MPI_COMM_WORLD, &request);
#if MPI_VERSION >= 4
  if (form == 2) {
    MPI_Bcast_init(data, count, kind->type, root, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  }
#endif
  finish(form, &request);
}

static float* seal(const float* data, size_t bytes) {
  float* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) abort();
  memcpy(at, data, bytes);
  if (mprotect(at, bytes, PROT_READ) != 0) abort();
  return at;
}

static void try_broadcast(const Kind* kind, int count, int root, int form) {
  const size_t bytes = sizeof(float) * (size_t)(count * kind->stride);
  float *data = fresh(kind, count), *exact = malloc(bytes), *own = data;
  if (rank == root) fill(data, kind, 0, count, root);
  memcpy(exact, data, bytes);
  if (rank == root && sealed) own = seal(data, bytes);
  broadcast(own, kind, count, root, form);
  if (!is_same(own, kind, count, decoded ? -1 : root)) fail("bcast: other bits", kind, form, root);
  const int kept = memcmp(own, exact, bytes) == 0;
  if (rank == root && !decoded && !kept) fail("bcast: the root's values", kind, form, root);
  if (rank == root && decoded && lossy && kept) fail("bcast: not decoded", kind, form, root);
  if (rank != root) fill(exact, kind, 0, count, root);
  if (rank != root && lossy && memcmp(own, exact, bytes) == 0)
    fail("bcast: exact", kind, form, root);
  if (own != data) munmap(own, bytes);
  release(data), free(exact);
}

// ---- Those with a block from each rank ----

static void gather(const void* in, float* out, const Kind* kind, int count, int listed, int form) {
  int counts[kMostRanks], places[kMostRanks];
  MPI_Request request;
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Datatype type = kind->type;
  for (int at = 0; at < size; ++at) counts[at] = count, places[at] = (size - 1 - at) * count;
  if (form == 0 && !listed) MPI_Allgather(in, count, type, out, count, type, comm);
  if (form == 0 && listed) MPI_Allgatherv(in, count, type, out, counts, places, type, comm);
  if (form == 1 && !listed) MPI_Iallgather(in, count, type, out, count, type, comm, &request);
  if (form == 1 && listed) {
    MPI_Iallgatherv(in, count, type, out, counts, places, type, comm, &request);
  }
#if MPI_VERSION >= 4
  if (form == 2 && !listed) {
    MPI_Allgather_init(in, count, type, out, count, type, comm, MPI_INFO_NULL, &request);
  }
  if (form == 2 && listed) {
    MPI_Allgatherv_init(in, count, type, out, counts, places, type, comm, MPI_INFO_NULL, &request);
  }
#endif
  finish(form, &request);
}

static void try_gather(const Kind* kind, int count, int listed, int in_place, int form) {
  float *in = fresh(kind, count), *out = fresh(kind, (long)size * count);
  const int block = listed ? size - 1 - rank : rank;
  fill(in_place ? out : in, kind, in_place ? (long)block * count : 0, count, rank);
  gather(in_place ? MPI_IN_PLACE : in, out, kind, count, listed, form);
  if (!is_same(out, kind, (long)size * count, -1)) fail("allgather: other bits", kind, form, -1);
  release(in), release(out);
}

static void try_allreduce(const Kind* kind, int count, int in_place, int form) {
  float *in = fresh(kind, count), *out = fresh(kind, count);
  MPI_Request request;
  fill(in_place ? out : in, kind, 0, count, rank);
  const void* from = in_place ? MPI_IN_PLACE : in;
  if (form == 0) MPI_Allreduce(from, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  if (form == 1) MPI_Iallreduce(from, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
#if MPI_VERSION >= 4
  if (form == 2) {
    MPI_Allreduce_init(from, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
  }
#endif
  finish(form, &request);
  if (!is_same(out, kind, count, -1)) fail("allreduce: other bits", kind, form, -1);
  release(in), release(out);
}

static void try_all(const Kind* kind, int count) {
  for (int form = 0; form < kForms; ++form) {
    for (int root = 0; root < size; ++root) try_broadcast(kind, count, root, form);
    for (int way = 0; way < 4; ++way) try_gather(kind, count, way / 2, way % 2, form);
    for (int in_place = 0; in_place < 2 && kind->stride == 1; ++in_place) {
      try_allreduce(kind, count, in_place, form);
    }
  }
}

int main(int argc, char** argv) {
  int provided = 0;
  Kind kinds[] = {{"float", MPI_FLOAT, 1}, {"float with gaps", MPI_FLOAT, kStride}};
  for (int at = 1; at < argc; ++at) {
    sealed = sealed || strcmp(argv[at], "sealed") == 0;
    decoded = decoded || strcmp(argv[at], "decoded") == 0;
    lossy = lossy || strcmp(argv[at], "lossy") == 0;
  }
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Type_create_resized(MPI_FLOAT, 0, kStride * (MPI_Aint)sizeof(float), &kinds[1].type);
  MPI_Type_commit(&kinds[1].type);
  for (int at = 0; at < 2 && size <= kMostRanks; ++at) {
    try_all(&kinds[at], 700);
    try_all(&kinds[at], 40000);
  }
  MPI_Type_free(&kinds[1].type);
  if (mistakes == 0) printf("all right after %d calls\n", calls);
  MPI_Finalize();
  return mistakes != 0;
}
