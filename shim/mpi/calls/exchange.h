// What the blocking and the non-blocking exchanges share.
#pragma once

#include <optional>

#include "calls/nonblocking.h"

namespace thinwire::mpi {

// The incoming message may reach the buffer before the outgoing one has left it, so the outgoing
// one leaves from its wire form or from a copy. `raw` says that it is not to be compressed. Returns
// what went wrong, raised.
int copy_outgoing(const Outgoing& message, bool raw, std::optional<Wire>& wire);

// Whether a receive is none of the shim's business.
bool receives_untouched(const Incoming& message);

}  // namespace thinwire::mpi
