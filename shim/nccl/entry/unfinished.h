// Calls on communicators that do not block, which are enqueued by and by: what follows an exchange
// comes after NCCL says, by ncclCommGetAsyncError(), that it has put the exchange on the streams.
// The program asks for that anyway, as it may make no other call before; until all has been
// enqueued it is told ncclInProgress (decision 0043).
#pragma once

#include <vector>

#include "run/enqueue.h"

namespace thinwire::nccl {

// `rest` of coded calls, and raw ones that have something after them, made in one call or group
// that NCCL has said ncclInProgress of; that again, or an error if there is no memory to keep
// them.
ncclResult_t finish_later(Rest rest, std::vector<Planned> watched);

// Whether something is left of the communicator's calls. NCCL refuses further calls there.
bool is_unfinished(ncclComm_t comm);

// Goes on as far as NCCL allows it: ncclInProgress while something is left, else what came of it.
// From any thread; waits for nothing.
ncclResult_t go_on(ncclComm_t comm);

// Nothing more is done for it; whoever is at it has finished.
void drop_unfinished(Communicator& of);

}  // namespace thinwire::nccl
