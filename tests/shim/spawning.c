// Jobs that start while others end: both ranks spawn on their own at once, then together, round
// after round. Each child talks to the others of its job and to its parents, and ends.
//
// shim_spawning ROUNDS    (2 ranks)
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kFloats = 4096, kMostChildren = 3 };

static int wrong;

// A ring: what arrives is what the rank before has sent.
static void talk_inside(MPI_Comm comm) {
  static float sent[kFloats], got[kFloats];
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int after = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int at = 0; at < kFloats; ++at) sent[at] = (float)(rank + at);
  MPI_Sendrecv(sent, kFloats, MPI_FLOAT, after, 0, got, kFloats, MPI_FLOAT, before, 0, comm,
               MPI_STATUS_IGNORE);
  for (int at = 0; at < kFloats; ++at) wrong |= got[at] != (float)(before + at);
}

// The first rank of either side tells the other side's all.
static void talk_between(MPI_Comm between, int is_parent) {
  int rank = 0, told = 0, mine = is_parent ? 17 : 23;
  MPI_Comm_rank(between, &rank);
  const int root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Bcast(is_parent ? &mine : &told, 1, MPI_INT, is_parent ? root : 0, between);
  MPI_Bcast(is_parent ? &told : &mine, 1, MPI_INT, is_parent ? 0 : root, between);
  wrong |= told != (is_parent ? 23 : 17);
}

static void spawn(char* program, int children, MPI_Comm comm) {
  MPI_Comm between;
  MPI_Comm_spawn(program, MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, comm, &between,
                 MPI_ERRCODES_IGNORE);
  talk_between(between, 1);
  MPI_Comm_disconnect(&between);
}

static void be_child(MPI_Comm parents) {
  talk_inside(MPI_COMM_WORLD);
  talk_between(parents, 0);
  MPI_Comm_disconnect(&parents);
}

static void be_parent(char* program, int rounds) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < rounds; ++round) {
    spawn(program, 1 + round % 2, MPI_COMM_SELF);
    spawn(program, 1 + round % kMostChildren, MPI_COMM_WORLD);
    talk_inside(MPI_COMM_WORLD);
    if (rank == 0) printf("round %d\n", round);
  }
}

int main(int argc, char** argv) {
  MPI_Comm parents;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parents);
  if (parents != MPI_COMM_NULL) {
    be_child(parents);
  } else if (argc == 2) {
    be_parent(argv[0], atoi(argv[1]));
  }
  MPI_Finalize();
  if (wrong) fprintf(stderr, "wrong values\n");
  return wrong;
}
