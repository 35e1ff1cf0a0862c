// Raw sums that are added in the order of the ranks.
#pragma once

#include "run/planned.h"

namespace thinwire::nccl {

// The parts in which a sum is added, with their plans, one step after the other, in a group, too:
// other ranks may make the call in none. Nothing, and the communicator has failed: no memory.
Rest in_order(const Planned& whole, bool is_grouped);

}  // namespace thinwire::nccl
