// Changes to finished schedules: for contributions that are each coded by themselves, and for
// memory that the transport does not reach.
#pragma once

#include "collective/schedule.h"

namespace thinwire::collective {

// Makes a reduction that begins with a copy of this rank's own input begin with what that input
// decodes to instead: if Budget::quantises_own says so, of flat schedules that code each other
// contribution by itself (direct, recursive doubling).
void quantise_own(Schedule& schedule);

// Values that would travel from or to the user's memory go through slots instead, uncoded.
void stage_values(Schedule& schedule);

}  // namespace thinwire::collective
