// Figures of this library's own calls, for tw_stats_read().
#pragma once

#include <cstdint>

#include "base/status.h"
#include "thinwire/thinwire.h"

namespace thinwire::capi {

// `length` is the frame's size, or why there is none.
void count_encode(std::uint64_t bytes, const Result<std::uint64_t>& length);
void count_decode(const Status& status);
void count_collective(const tw_collective_report& report);

}  // namespace thinwire::capi
