// Collectives that are compressed as a whole instead of being the MPI's own: ARCHITECTURE.md,
// section 6.
#pragma once

#include <optional>

#include "collectives/asked.h"

namespace thinwire::mpi {

// Whether any collective may be taken over: between MPI_Init and MPI_Finalize, where the settings
// want it.
extern bool collectives_may_be_taken_over;

// Runs the call, compressed, and returns its outcome, raised on the communicator; nothing, where it
// is to be the MPI's own. Whether it is follows from what MPI requires equal on all ranks, so all
// of them decide alike. Blocks as the MPI's own call would. The first call on a communicator that
// may be taken over makes what is kept with it.
std::optional<int> take_over(const Asked& asked);

inline std::optional<int> take_over_if_wanted(const Asked& asked) {
  if (!collectives_may_be_taken_over) return std::nullopt;
  return take_over(asked);
}

}  // namespace thinwire::mpi
