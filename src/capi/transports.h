// A transport of the C ABI as the library's own kind, and the reverse.
#pragma once

#include <memory>

#include "thinwire/thinwire.h"
#include "transport/transport.h"

namespace thinwire::capi {

// Takes over what `table` stands for; `release` is called when the result goes.
std::unique_ptr<transport::Transport> adopt(const tw_transport& table);

// A table that owns `transport`.
tw_transport expose(std::unique_ptr<transport::Transport> transport);

}  // namespace thinwire::capi
