// Ranks of an NCCL communicator.
#pragma once

#include <memory>

#include "transport/stream_transport.h"

namespace thinwire::transport {

// This rank's end of `communicator`, an ncclComm_t of the program's, which must outlive it.
// Messages and the program's own calls on the communicator go in the order in which they are
// enqueued, which must be the same on all ranks. kUnsupported where NCCL cannot be loaded, kDevice
// where it fails.
Result<std::unique_ptr<StreamTransport>> make_nccl(void* communicator);

}  // namespace thinwire::transport
