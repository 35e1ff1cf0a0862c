// coll_uneven [MOST]: collectives of lists whose ranks have different counts: of each call some
// ranks have much, others little or nothing, in turns; every value is compared.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCalls = 48 };

static int rank, size, mistakes, most;
static float *send, *receive;
static int *counts, *places, *in_counts, *in_places;

static int count_of(int from, int to, int call) {
  const int kind = (from * 7 + to * 3 + call) % 5;
  return kind == 0 ? 0 : kind == 1 ? 3 : kind == 2 ? most / 64 : kind == 3 ? most / 2 + from : most;
}
static float value(int from, int to, int call, int at) {
  return (float)(from * 10 + to) + 0.5F * (float)call + 0.001F * (float)(at % 911);
}
static void check(const char* what, const float* found, int from, int to, int call, int count) {
  for (int at = 0; at < count; ++at) {
    if (found[at] == value(from, to, call, at)) continue;
    if (++mistakes < 5) printf("rank %d: %s call %d from %d at %d\n", rank, what, call, from, at);
    return;
  }
}
static int lay_out(int* list, int* at, int to_all, int call) {
  int total = 0;
  for (int other = 0; other < size; ++other) {
    list[other] = to_all ? count_of(rank, other, call) : count_of(other, rank, call);
    at[other] = total;
    total += list[other];
  }
  return total;
}
static void alltoallv(int call) {
  lay_out(counts, places, 1, call);
  lay_out(in_counts, in_places, 0, call);
  for (int to = 0; to < size; ++to)
    for (int at = 0; at < counts[to]; ++at) send[places[to] + at] = value(rank, to, call, at);
  MPI_Alltoallv(send, counts, places, MPI_FLOAT, receive, in_counts, in_places, MPI_FLOAT,
                MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from)
    check("alltoallv", receive + in_places[from], from, rank, call, in_counts[from]);
}
static void allgatherv(int call) {
  int total = 0;
  for (int from = 0; from < size; ++from) {
    counts[from] = count_of(from, 0, call);
    places[from] = total;
    total += counts[from];
  }
  for (int at = 0; at < counts[rank]; ++at) send[at] = value(rank, 0, call, at);
  MPI_Allgatherv(send, counts[rank], MPI_FLOAT, receive, counts, places, MPI_FLOAT, MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from)
    check("allgatherv", receive + places[from], from, 0, call, counts[from]);
}
static void gatherv(int call) {
  const int root = call % size;
  int total = 0;
  for (int from = 0; from < size; ++from) {
    counts[from] = count_of(from, root, call);
    places[from] = total;
    total += counts[from];
  }
  const int own = counts[rank];
  for (int at = 0; at < own; ++at) send[at] = value(rank, root, call, at);
  MPI_Gatherv(send, own, MPI_FLOAT, receive, rank == root ? counts : NULL,
              rank == root ? places : NULL, MPI_FLOAT, root, MPI_COMM_WORLD);
  for (int from = 0; rank == root && from < size; ++from)
    check("gatherv", receive + places[from], from, root, call, counts[from]);
}
static void scatterv(int call) {
  const int root = call % size;
  int total = 0;
  for (int to = 0; to < size; ++to) {
    counts[to] = count_of(root, to, call);
    places[to] = total;
    total += counts[to];
    for (int at = 0; rank == root && at < counts[to]; ++at)
      send[places[to] + at] = value(root, to, call, at);
  }
  const int own = counts[rank];
  MPI_Scatterv(send, rank == root ? counts : NULL, rank == root ? places : NULL, MPI_FLOAT, receive,
               own, MPI_FLOAT, root, MPI_COMM_WORLD);
  check("scatterv", receive, root, rank, call, own);
}
static void reduce_scatter(int call) {
  int total = 0;
  for (int to = 0; to < size; ++to) total += counts[to] = count_of(0, to, call);
  for (int at = 0; at < total; ++at) send[at] = (float)(at % 5 + rank);
  MPI_Reduce_scatter(send, receive, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  int first = 0;
  for (int to = 0; to < rank; ++to) first += counts[to];
  for (int at = 0; at < counts[rank]; ++at) {
    const float wanted = (float)(size * ((first + at) % 5) + size * (size - 1) / 2);
    if (receive[at] == wanted) continue;
    if (++mistakes < 5) printf("rank %d: reduce_scatter call %d at %d\n", rank, call, at);
    return;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  most = argc > 1 ? atoi(argv[1]) : 60000;
  send = malloc(sizeof *send * (size_t)(most + size) * (size_t)size);
  receive = malloc(sizeof *receive * (size_t)(most + size) * (size_t)size);
  counts = malloc(sizeof *counts * (size_t)size * 4);
  places = counts + size;
  in_counts = places + size;
  in_places = in_counts + size;
  for (int call = 0; call < kCalls; ++call) {
    alltoallv(call);
    allgatherv(call);
    gatherv(call);
    scatterv(call);
    reduce_scatter(call);
  }
  MPI_Finalize();
  if (mistakes == 0) printf("all right\n");
  return mistakes != 0;
}
