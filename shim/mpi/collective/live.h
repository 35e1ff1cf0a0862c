// The place where a communicator of the program keeps its Collectives, and until when.
#pragma once

#include "shim/mpi/collective/communicators.h"

namespace thinwire::mpi {

// Kept with the communicator from here on, and not made yet.
Collectives& keep(MPI_Comm comm);

// The same of what other communicators of its ranks have made, in the place of `wanted`, which may
// be null.
Collectives& keep_shared(MPI_Comm comm, Collectives* wanted, Collectives& shared);

// Ends it if neither a communicator uses it nor its group keeps it.
void end_if_unused(Collectives* kept);

inline bool is_wanted(const Collectives* kept) {
  return kept != nullptr &&
         (kept->why == NativeReason::kNotYet || kept->why == NativeReason::kNotNow);
}

// Whether the next call that may wait for the other ranks has something to do: what
// wanted_collectives counts.
inline bool wants_a_call(const Collectives* kept) {
  return is_wanted(kept) || (kept != nullptr && kept->wants_costs);
}

// `own` carries its messages from here on; if the program's communicator was revoked it is, too.
void set_private(Collectives& kept, MPI_Comm own);

}  // namespace thinwire::mpi
