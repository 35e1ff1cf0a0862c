// Schedules for memory that the transport does not reach.
#pragma once

#include "collective/schedule.h"

namespace thinwire::collective {

// Values that would travel from or to the user's memory go through slots instead, uncoded.
void stage_values(Schedule& schedule);

}  // namespace thinwire::collective
