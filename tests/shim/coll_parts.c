// coll_parts: collectives whose messages are about as long as some parts of 48 KiB: one value less,
// as many, one more; of values that no codec shrinks, and of such that shrink. All ranks compare
// each value with what the others must have sent.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/memory.h"

enum { kPart = 48 * 1024 / 4 };

static int rank, size, mistakes;

// The value that `from` has for `to` at position `at`.
static float value(int from, int to, long at, int shrinks) {
  uint64_t word =
      (uint64_t)at * 0x9E3779B97F4A7C15U + (uint64_t)(from * 64 + to + 1) * 0xD1342543DE82EF95U;
  word = (word ^ word >> 29) * 0xBF58476D1CE4E5B9U;
  if (shrinks) return (float)(word >> 60);
  // All bits but those that would make a NaN of it.
  const uint32_t bits = (uint32_t)(word >> 32) & 0xBFFFFFFFU;
  float made;
  memcpy(&made, &bits, sizeof made);
  return made;
}

static void expect(const float* found, int from, int to, long count, int shrinks,
                   const char* what) {
  for (long at = 0; at < count; ++at) {
    const float wanted = value(from, to, at, shrinks);
    if (memcmp(&found[at], &wanted, sizeof wanted) == 0) continue;
    if (++mistakes < 5)
      printf("rank %d: %s of %ld values, from %d, place %ld\n", rank, what, count, from, at);
    return;
  }
}

static void exchange(float* send, float* receive, long count, int shrinks, int started) {
  for (int to = 0; to < size; ++to) {
    for (long at = 0; at < count; ++at) send[to * count + at] = value(rank, to, at, shrinks);
  }
  memset(receive, 0xFF, sizeof *receive * (size_t)(count * size));
  if (started) {
    MPI_Request request;
    MPI_Ialltoall(send, (int)count, MPI_FLOAT, receive, (int)count, MPI_FLOAT, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Alltoall(send, (int)count, MPI_FLOAT, receive, (int)count, MPI_FLOAT, MPI_COMM_WORLD);
  }
  for (int from = 0; from < size; ++from) {
    expect(receive + from * count, from, rank, count, shrinks, started ? "Ialltoall" : "Alltoall");
  }
}

static void gather(float* send, float* receive, long count, int shrinks) {
  for (long at = 0; at < count; ++at) send[at] = value(rank, 0, at, shrinks);
  MPI_Allgather(send, (int)count, MPI_FLOAT, receive, (int)count, MPI_FLOAT, MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from) {
    expect(receive + from * count, from, 0, count, shrinks, "Allgather");
  }
}

static void broadcast(float* data, long count, int shrinks) {
  for (int root = 0; root < size; ++root) {
    for (long at = 0; at < count; ++at) data[at] = rank == root ? value(root, 9, at, shrinks) : 0;
    MPI_Bcast(data, (int)count, MPI_FLOAT, root, MPI_COMM_WORLD);
    expect(data, root, 9, count, shrinks, "Bcast");
  }
}

// Small integers: their sums are exact.
static void sum(float* send, float* receive, long count) {
  for (long at = 0; at < count; ++at) send[at] = value(rank, 3, at, 1);
  MPI_Allreduce(send, receive, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  for (long at = 0; at < count; ++at) {
    float wanted = 0;
    for (int from = 0; from < size; ++from) wanted += value(from, 3, at, 1);
    if (receive[at] != wanted && ++mistakes < 5)
      printf("rank %d: Allreduce, place %ld\n", rank, at);
  }
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long counts[] = {200, kPart - 1, kPart, kPart + 1, 2 * kPart, 5 * kPart + 17, 300000};
  const long most = 300000;
  float* const send = allocate(sizeof *send * (size_t)(most * size));
  float* const receive = allocate(sizeof *receive * (size_t)(most * size));
  for (int at = 0; at < (int)(sizeof counts / sizeof *counts); ++at) {
    for (int shrinks = 0; shrinks < 2; ++shrinks) {
      exchange(send, receive, counts[at], shrinks, 0);
      exchange(send, receive, counts[at], shrinks, 1);
      gather(send, receive, counts[at], shrinks);
      broadcast(send, counts[at], shrinks);
    }
    sum(send, receive, counts[at]);
  }
  release(send);
  release(receive);
  MPI_Finalize();
  if (mistakes == 0) printf("all right\n");
  return mistakes != 0;
}
