// Communicators that have ended, of which nothing but their figures is needed any more.
#pragma once

#include "state/communicators.h"

namespace thinwire::nccl {

// The program's last call on it is over: after nobody needs more of it, and it is none of the
// latest that have ended, it is destroyed.
void let_go(Communicator& ended);

}  // namespace thinwire::nccl
