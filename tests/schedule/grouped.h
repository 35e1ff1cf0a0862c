// Schedules as an enqueue-only transport runs them: one group of messages after the other.
#pragma once

#include <cstdint>
#include <string>

#include "collective.h"

namespace thinwire::collective::testing {

struct Pieces {
  std::uint32_t count = 1;   // of each block
  std::uint32_t window = 1;  // worked on together
};

// The first fault that is found, empty where there is none: every task happens once and behind all
// that it waits for, messages meet their own other end, and no group waits for ever where one is
// complete once the ranks at all other ends have come as far.
std::string fault_of_groups(const Collective& collective, const Pieces& pieces);

}  // namespace thinwire::collective::testing
