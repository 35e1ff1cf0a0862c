// What the enqueue-only driver works with, on the host: every call is complete on return, as if the
// stream were waited for.
#pragma once

#include <memory>
#include <vector>

#include "collective/enqueued/host_work.h"
#include "transport/stream_transport.h"

namespace thinwire::collective::testing {

// Ends for ranks in threads. A group is complete on return, once the ranks at the other ends of all
// its messages have ended theirs; kInternal where that takes longer than anything can.
std::vector<std::unique_ptr<transport::StreamTransport>> make_grouped(int size);

}  // namespace thinwire::collective::testing
