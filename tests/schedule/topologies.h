// The topologies that schedules are tried on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collective/algorithms.h"

namespace thinwire::collective::testing {

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
