// Waiting for other ranks that the caller can end.
#pragma once

#include <memory>

#include "thinwire/thinwire.h"
#include "transport/transport.h"

namespace thinwire::capi {

// The function is `interrupted` of tw_comm_options.
using Interrupted = tw_status (*)(void* context);

// The same transport, which asks `interrupted` now and then while it is idle. After that returns an
// error, the transport fails with it.
std::unique_ptr<transport::Transport> interruptible(std::unique_ptr<transport::Transport> transport,
                                                    Interrupted interrupted, void* context);

}  // namespace thinwire::capi
