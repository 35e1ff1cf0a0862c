// One collective by one schedule, as the executor that polls would run it.
#pragma once

#include "base/status.h"
#include "simulate/model.h"

namespace thinwire::simulate {

// kUnsupported if there is no such schedule, or the codec does not take such values; kTooSmall if
// it has too many tasks in pieces of any size.
Result<Figures> simulate(const Call& call, const Machine& machine);

}  // namespace thinwire::simulate
