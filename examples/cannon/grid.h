// The ranks as a square whose rows and columns are rings.
#pragma once

#include <mpi.h>

namespace cannon {

struct Grid {
  MPI_Comm comm = MPI_COMM_NULL;  // cartesian, periodic both ways; freed by free_grid()
  int side = 0;
  int row = 0;
  int column = 0;
};

// Whom a block comes from and whom one goes to.
struct Hop {
  int from = 0;
  int to = 0;
};

// The side of a square of `ranks` ranks; 0 if they make none.
int side_of(int ranks);

// Collective over `comm`, which has side * side ranks.
Grid make_grid(MPI_Comm comm, int side);
void free_grid(Grid* grid);

// `steps` places along the row to the left, or along the column up.
Hop left(const Grid& grid, int steps);
Hop up(const Grid& grid, int steps);

}  // namespace cannon
