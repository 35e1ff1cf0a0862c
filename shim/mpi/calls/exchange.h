// What the blocking and the non-blocking exchanges share.
#pragma once

#include <optional>

#include "calls/nonblocking.h"

namespace thinwire::mpi {

// The incoming message may reach the buffer before the outgoing one has left it, so the outgoing
// one leaves from its wire form or from a copy. `raw` says that it is not to be compressed. Returns
// what went wrong, raised.
int copy_outgoing(const Outgoing& message, bool raw, std::optional<Wire>& wire);

// Has the MPI look at the arguments of a send that is never started. What it refuses has no
// request: MPICH says MPI_SUCCESS once the program's error handler has returned.
bool passes_check(const Outgoing& message, int tag, int& error);

// Takes back a receive whose send failed: left posted, it would take somebody else's message.
void withdraw(MPI_Request request);

// Whether a receive is none of the shim's business.
bool receives_untouched(const Incoming& message);

}  // namespace thinwire::mpi
