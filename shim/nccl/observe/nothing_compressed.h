// Why nothing of what a program asked of NCCL was compressed: one line on standard error a job.
#pragma once

#include "state/communicators.h"

namespace thinwire::nccl {

// Says at the end, by the process with rank 0, that nothing was compressed, if something was asked
// for and there was something to compress. `all` are its communicators, of which there is one at
// least.
void explain_nothing_compressed(const std::vector<Communicator*>& all);

}  // namespace thinwire::nccl
