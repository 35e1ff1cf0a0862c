// Stands for src/device/polling.cuh: the other thread block may need the processor.
#pragma once

#include <sched.h>

namespace thinwire::device {

inline void between_polls() { sched_yield(); }

}  // namespace thinwire::device
