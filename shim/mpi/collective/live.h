// The place where a communicator of the program keeps its Collectives, and until when.
#pragma once

#include <atomic>
#include <cstdint>

#include "shim/mpi/collective/record.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/state/native_reason.h"

namespace thinwire::mpi {

class Ending;

// The record that is kept already, or nullptr; one that is merely wanted says kNotYet or kNotNow.
Collectives* known_collectives(MPI_Comm comm);

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

// Those of which the next call that may wait for the other ranks has something to do.
extern std::atomic<std::uint64_t> wanted_collectives;

// Whether the next call that may wait for the other ranks has something to do: what
// wanted_collectives counts.
inline bool wants_a_call(const Collectives* kept) {
  return is_wanted(kept) || (kept != nullptr && kept->wants_costs);
}

// A non-blocking collective could have been compressed, if it were known what its codec costs, or
// the link's rate: the next call that may wait for the other ranks learns it. Local; to be called
// on all ranks alike.
void want_costs(Collectives& kept);

// `own` carries its messages from here on; if the program's communicator was revoked it is, too.
void set_private(Collectives& kept, MPI_Comm own);

// Interrupts compressed collectives that wait on `comm`; called after the MPI's own revocation of
// it, which `revoke` is. From any thread.
void revoke_collectives_of(MPI_Comm comm, int (*revoke)(MPI_Comm));

// Before MPI_Comm_free and MPI_Comm_disconnect: what is kept with the communicator goes along with
// `ending`, as delete callbacks may call collectives, and ends or goes back after the MPI's call.
void take_collectives_along(Ending& ending);
void end_collectives_of(Ending& ending);

// Before MPI_Finalize where sessions go on, and before the MPI ends.
void release_collectives_of_world();
void release_collectives();

}  // namespace thinwire::mpi
