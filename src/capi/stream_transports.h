// A stream transport of the C ABI as the library's own kind.
#pragma once

#include <memory>

#include "thinwire/thinwire.h"
#include "transport/stream_transport.h"

namespace thinwire::capi {

bool is_usable(const tw_stream_transport& table);

// Takes over what `table` stands for; `release` is called when the result goes.
std::unique_ptr<transport::StreamTransport> adopt(const tw_stream_transport& table);

}  // namespace thinwire::capi
