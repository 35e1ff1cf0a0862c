// Proves that schedules do what they are for, by running them with symbols for values; and the
// topologies that they are tried on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collective.h"
#include "collective/algorithms.h"

namespace thinwire::collective::testing {

struct Proof {
  std::string fault;          // the first that was found; empty if there is none
  std::uint64_t codings = 0;  // most that reached one value of the result
};

// Messages match, nobody waits for ever in whatever order things happen, every contribution is in
// the result once, all results are there, and they are of the same bits if that is promised.
Proof prove(const Collective& collective);

// One to try a row on; `rank` is of no meaning in it.
struct Trial {
  Topology topology;
  int nodes = 1;  // how many
  std::string name;
};

std::vector<Trial> trials_of(const Row& row, int size);

// As in "bcast_chain_two_level".
std::string name_of(const Row& row);

}  // namespace thinwire::collective::testing
