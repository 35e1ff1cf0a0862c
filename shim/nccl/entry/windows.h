// Calls that NCCL is to have as they are, by what the program has asked of it: in windows of
// symmetric memory, and on communicators with the zero-CTA policy.
#pragma once

#include "run/call.h"
#include "state/communicators.h"

namespace thinwire::nccl {

// Why it is to have this one, for all that this rank knows; 0: nothing says so. Other ranks may
// know otherwise: it is for them to agree on (run/kinds.h).
int why_left_to_nccl(const Call& call, const Communicator& communicator);

// Whether a communicator's configuration has the zero-CTA policy; the environment may say
// otherwise. `config` may be null.
bool has_zero_ctas(const ncclConfig_t* config);

// NCCL has made what this thread registered in a group, or on a communicator that does not block.
void tell_registered_in_group(ncclResult_t result);
void tell_registered_on(ncclComm_t comm);

}  // namespace thinwire::nccl
