// Schedules under which every contribution is coded by itself.
#pragma once

#include "collective/schedule.h"

namespace thinwire::collective {

// Makes a reduction that begins with a copy of this rank's own input begin with what that input
// decodes to instead: if Budget::quantises_own says so, of flat schedules that code each other
// contribution by itself (direct, recursive doubling).
void quantise_own(Schedule& schedule);

}  // namespace thinwire::collective
