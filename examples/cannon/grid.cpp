#include "grid.h"

namespace cannon {

int side_of(int ranks) {
  int side = 1;
  while (side * side < ranks) ++side;
  return side * side == ranks ? side : 0;
}

Grid make_grid(MPI_Comm comm, int side) {
  const int extents[2] = {side, side};
  const int periodic[2] = {1, 1};
  Grid grid{.side = side};
  MPI_Cart_create(comm, 2, extents, periodic, 1, &grid.comm);
  int rank = 0;
  int place[2] = {0, 0};
  MPI_Comm_rank(grid.comm, &rank);
  MPI_Cart_coords(grid.comm, rank, 2, place);
  grid.row = place[0];
  grid.column = place[1];
  return grid;
}

void free_grid(Grid* grid) { MPI_Comm_free(&grid->comm); }

Hop left(const Grid& grid, int steps) {
  Hop hop;
  MPI_Cart_shift(grid.comm, 1, -steps, &hop.from, &hop.to);
  return hop;
}

Hop up(const Grid& grid, int steps) {
  Hop hop;
  MPI_Cart_shift(grid.comm, 0, -steps, &hop.from, &hop.to);
  return hop;
}

}  // namespace cannon
