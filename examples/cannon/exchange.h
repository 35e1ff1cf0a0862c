// How blocks go from rank to rank.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace cannon {

// The ranks as a square whose rows and columns are rings.

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

// A block on its way out, and room for the one that takes its place.
struct Shift {
  int tag;  // one for each matrix: the way left and the way up may lead to the same rank
  Hop hop;
  const void* outgoing;
  void* incoming;
};

// Square blocks of one size, rows one after the other.
struct BlockType {
  BlockType(int rows, MPI_Datatype element);
  BlockType(const BlockType&) = delete;
  BlockType& operator=(const BlockType&) = delete;
  ~BlockType() { MPI_Type_free(&type); }

  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::size_t bytes = 0;
};

// Traffic that one rank has sent so far.
struct Traffic {
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  // Does all the shifts at once, and is done on return. No outgoing block may be an incoming one.
  // Collective over the ranks of the hops.
  virtual void move(std::span<const Shift> shifts) = 0;

  const Traffic& traffic() const { return traffic_; }

 protected:
  Traffic traffic_;
};

// Hands MPI the pointers as they are: to host memory, or to GPU memory if MPI takes it. `block`
// must outlive the exchange.
std::unique_ptr<Exchange> make_direct_exchange(MPI_Comm comm, const BlockType& block);

// For GPU memory and an MPI that takes host memory only, as it is written by hand: copies through
// pinned buffers made beforehand, room for two shifts.
std::unique_ptr<Exchange> make_staged_exchange(MPI_Comm comm, const BlockType& block);

}  // namespace cannon
