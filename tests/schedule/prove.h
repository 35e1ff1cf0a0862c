// Proves that schedules do what they are for, by running them with symbols for values.
#pragma once

#include <cstdint>
#include <string>

#include "collective.h"

namespace thinwire::collective::testing {

struct Proof {
  std::string fault;          // the first that was found; empty if there is none
  std::uint64_t codings = 0;  // most that reached one value of the result
};

// Messages match, nobody waits for ever in whatever order things happen, every contribution is in
// the result once, all results are there, and they are of the same bits if that is promised.
Proof prove(const Collective& collective);

}  // namespace thinwire::collective::testing
