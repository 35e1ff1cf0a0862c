// Counts and displacements of a call's two sides, as tw_comm_run() borrows them, kept for the next
// call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shim/mpi/state/collective_arguments.h"

namespace thinwire::mpi {

struct Lists {
  std::vector<std::uint64_t> counts[2];
  std::vector<std::uint64_t> displacements[2];
};

// Counts and displacements of a collective that goes on when its call has returned. MPI lets the
// program change them at completion alone, but programs do it before, and every MPI bears it.

class OwnedLists {
 public:
  // `entries` of each list, if the side has any.
  void own_those_of(Side& side, int entries) {
    if (entries == 0) return;
    side.counts = side.counts.copied(entries, [this](const void* list, std::size_t bytes) {
      const auto* begin = static_cast<const std::byte*>(list);
      kept_.emplace_back(begin, begin + bytes);
      return static_cast<const void*>(kept_.back().data());
    });
  }

 private:
  std::vector<std::vector<std::byte>> kept_;
};

}  // namespace thinwire::mpi
