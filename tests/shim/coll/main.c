// coll [TOLERANCE [LONGEST]]: every collective that carries floats, on every root, for several
// lengths, of at most LONGEST elements, types, layouts and communicators; plain MPI, which knows
// nothing of compression. Each result is compared with what it must be, exactly or within
// TOLERANCE, and where all ranks get the same, its bits with theirs. Prints "all right" on each
// rank, or the first mistakes.
#include <stdio.h>
#include <stdlib.h>

#include "coll.h"

MPI_Comm comm;
int rank, size, mistakes;
double tolerance;
const char* where;
const Kind* kind;
static long longest = 5000;

static void run_all(const char* name, MPI_Comm on) {
  const long counts[] = {0, 1, 7, 333, 5000};
  where = name;
  comm = on;
  MPI_Comm_rank(on, &rank);
  MPI_Comm_size(on, &size);
  for (int at = 0; at < 5 && counts[at] <= longest; ++at) {
    broadcasts(counts[at]);
    gathers(counts[at]);
    scatters(counts[at]);
    exchanges(counts[at]);
    // With one rank MPICH 4.0 and Open MPI 4.1 take displacements for something else.
    if (size > 1) gathers_of_lengths(counts[at]);
    if (size > 1) exchanges_of_lengths(counts[at]);
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
  if (argc > 2) longest = atol(argv[2]);
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
