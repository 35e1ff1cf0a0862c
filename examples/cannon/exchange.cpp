#include "exchange.h"

#include <vector>

#include "examples/common/memory.h"

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

namespace {

void swap_blocks(MPI_Comm comm, const BlockType& block, std::span<const Shift> shifts,
                 std::vector<MPI_Request>* requests, Traffic* traffic) {
  requests->clear();
  for (const Shift& shift : shifts) {
    MPI_Irecv(shift.incoming, 1, block.type, shift.hop.from, shift.tag, comm,
              &requests->emplace_back(MPI_REQUEST_NULL));
  }
  for (const Shift& shift : shifts) {
    MPI_Isend(shift.outgoing, 1, block.type, shift.hop.to, shift.tag, comm,
              &requests->emplace_back(MPI_REQUEST_NULL));
    traffic->bytes += static_cast<std::int64_t>(block.bytes);
    traffic->messages += 1;
  }
  MPI_Waitall(static_cast<int>(requests->size()), requests->data(), MPI_STATUSES_IGNORE);
}

class DirectExchange : public Exchange {
 public:
  DirectExchange(MPI_Comm comm, const BlockType& block) : comm_(comm), block_(block) {}

  void move(std::span<const Shift> shifts) override {
    swap_blocks(comm_, block_, shifts, &requests_, &traffic_);
  }

 private:
  MPI_Comm comm_;
  const BlockType& block_;
  std::vector<MPI_Request> requests_;
};

class StagedExchange : public Exchange {
 public:
  StagedExchange(MPI_Comm comm, const BlockType& block)
      : comm_(comm), block_(block), room_(examples::Place::kPinned, 4 * block.bytes) {}

  void move(std::span<const Shift> shifts) override {
    on_host_.clear();
    char* room = room_.data();
    for (const Shift& shift : shifts) {
      on_host_.push_back({shift.tag, shift.hop, room, room + block_.bytes});
      examples::copy_bytes(room, shift.outgoing, block_.bytes);
      room += 2 * block_.bytes;
    }
    examples::wait_for_gpu();
    swap_blocks(comm_, block_, on_host_, &requests_, &traffic_);
    for (std::size_t at = 0; at < shifts.size(); ++at) {
      examples::copy_bytes(shifts[at].incoming, on_host_[at].incoming, block_.bytes);
    }
    examples::wait_for_gpu();
  }

 private:
  MPI_Comm comm_;
  const BlockType& block_;
  examples::Array<char> room_;
  std::vector<Shift> on_host_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

BlockType::BlockType(int rows, MPI_Datatype element) {
  // Rows of columns, not a long line of numbers: counts stay small however large a block is, and
  // who reads the datatype learns the block's shape.
  MPI_Type_vector(rows, rows, rows, element, &type);
  MPI_Type_commit(&type);
  int element_bytes = 0;
  MPI_Type_size(element, &element_bytes);
  bytes = static_cast<std::size_t>(rows) * rows * element_bytes;
}

std::unique_ptr<Exchange> make_direct_exchange(MPI_Comm comm, const BlockType& block) {
  return std::make_unique<DirectExchange>(comm, block);
}

std::unique_ptr<Exchange> make_staged_exchange(MPI_Comm comm, const BlockType& block) {
  return std::make_unique<StagedExchange>(comm, block);
}

}  // namespace cannon
