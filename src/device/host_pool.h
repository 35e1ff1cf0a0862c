// Parts of the pool of host memory that the other pools share (pool.h).
#pragma once

#include <cstdint>

#include "device/pool.h"

namespace thinwire::device {

// Whether the buffer was on loan from the pool of host memory; it is back then.
bool take_back_host(std::byte* data);

PoolCounters host_counters();
void set_host_idle_bound(std::uint64_t bytes);

// Once: a buffer was given back that is not on loan.
void say_not_on_loan();

}  // namespace thinwire::device
