// Schedules under which every contribution is coded by itself.
#pragma once

#include "collective/schedule.h"

namespace thinwire::collective {

// Where a reduction begins with a copy of this rank's own input, it begins with what that input
// decodes to instead. With Budget::on_lattice, and schedules that code each other contribution by
// itself (direct), the result no longer depends on the order of the additions. Not for two levels,
// whose contributions are sums of a node's values.
void quantise_own(Schedule& schedule);

}  // namespace thinwire::collective
