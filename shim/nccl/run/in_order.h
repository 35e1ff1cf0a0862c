// Raw sums that are added in the order of the ranks.
#pragma once

#include <vector>

#include "run/planned.h"

namespace thinwire::nccl {

// The parts in which a sum is added, with their plans. Nothing, and the communicator has failed: no
// memory.
std::vector<Planned> parts_in_order(const Planned& whole, bool is_grouped);

}  // namespace thinwire::nccl
