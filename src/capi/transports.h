// A transport of the C ABI as the library's own kind, and the reverse; and waiting for other ranks
// that the caller can end.
#pragma once

#include <memory>

#include "thinwire/thinwire.h"
#include "transport/transport.h"

namespace thinwire::capi {

// Owns what `table` stands for: `release` is called when the result goes.
std::unique_ptr<transport::Transport> adopt(const tw_transport& table);

// A table that owns `transport`.
tw_transport expose(std::unique_ptr<transport::Transport> transport);

// The function is `interrupted` of tw_comm_options.
using Interrupted = tw_status (*)(void* context);

// The same transport, which asks `interrupted` now and then while it is idle. After that returns an
// error, the transport fails with it.
std::unique_ptr<transport::Transport> interruptible(std::unique_ptr<transport::Transport> transport,
                                                    Interrupted interrupted, void* context);

}  // namespace thinwire::capi
