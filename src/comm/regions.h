// How much memory a call touches on one rank.
#pragma once

#include "comm/call.h"

namespace thinwire::comm {

// Values from `send` and `receive` on, up to the last one that the call reads or writes there.
struct Regions {
  std::uint64_t send = 0;
  std::uint64_t receive = 0;
};

Regions regions_of(const Call& call, int rank, int size);

// Adds up all ranks' counts: those of the list, or `count` each.
std::uint64_t sum_of(const std::uint64_t* counts, std::uint64_t count, int size);

}  // namespace thinwire::comm
