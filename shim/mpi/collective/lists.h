// Counts and displacements of a call's two sides, as tw_comm_run() borrows them, kept for the next
// call.
#pragma once

#include <cstdint>
#include <vector>

namespace thinwire::mpi {

struct Lists {
  std::vector<std::uint64_t> counts[2];
  std::vector<std::uint64_t> displacements[2];
};

}  // namespace thinwire::mpi
