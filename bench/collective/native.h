// The MPI's own call for each operation.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "collective/data.h"

namespace thinwire::bench {

// The MPI's own collective of MPI_COMM_WORLD; sums if it reduces.
void run_native(tw_operation operation, tw_dtype dtype, const Group& group, std::int64_t count,
                const void* send, void* receive);

// Which ranks share a node, and the untimed traffic between nodes.

class Nodes {
 public:
  // Collective, as the rest. `filler` is in bytes.
  explicit Nodes(std::int64_t filler);
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  ~Nodes();

  // The node of each rank, numbered by the least rank there.
  const std::vector<std::int32_t>& of_ranks() const { return of_ranks_; }
  int count() const { return count_; }
  int local_rank() const { return local_rank_; }

  // Empties what a pause has filled up on every link in both directions: one rank a node sends the
  // filler to the next node. When it returns, nothing is under way and all ranks are ready.
  void fill();

 private:
  std::vector<std::int32_t> of_ranks_;
  std::vector<char> sent_;
  std::vector<char> received_;
  MPI_Comm leaders_ = MPI_COMM_NULL;  // one rank a node; null elsewhere
  int local_rank_ = 0;
  int count_ = 1;
};

}  // namespace thinwire::bench
