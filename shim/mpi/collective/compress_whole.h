// Collectives that are compressed as a whole instead of being the MPI's own: ARCHITECTURE.md,
// section 6.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "shim/mpi/collective/call_clock.h"
#include "shim/mpi/observe/capture.h"
#include "shim/mpi/state/collective_arguments.h"
#include "shim/mpi/state/fast_path.h"

namespace thinwire::mpi {

struct Part;

// Whether any collective may be compressed as a whole: between MPI_Init and MPI_Finalize, if the
// settings want it.
extern bool collectives_may_be_compressed;

// Whether the call is to be looked at; counted where not.
inline bool may_compress_whole() {
  if (collectives_may_be_compressed) return true;
  collectives_left_alone.store(collectives_left_alone.load(std::memory_order_relaxed) + 1,
                               std::memory_order_relaxed);
  note_small();
  return false;
}

// The call begins: whoever measures the link has to know of it.
void watch_link(const Part& part);

// Runs the call, compressed, and returns its outcome, raised on the communicator; nothing, if it
// is to be the MPI's own. Whether it is follows from what MPI requires equal on all ranks, so all
// of them decide alike. Blocks as the MPI's own call would. The first call on a communicator that
// may be compressed as a whole makes what is kept with it. If the MPI's own call is to be timed
// `clock` runs on return.
std::optional<int> compress_whole(const CollectiveArguments& arguments, CallClock& clock);

inline std::optional<int> compress_whole_if_wanted(const CollectiveArguments& arguments,
                                                   CallClock& clock) {
  note_wait();
  if (is_captured()) [[unlikely]]
    capture_collective(arguments);
  if (!may_compress_whole()) return std::nullopt;
  return compress_whole(arguments, clock);
}

}  // namespace thinwire::mpi
