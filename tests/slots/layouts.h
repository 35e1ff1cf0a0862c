// Nodes that ranks share, and cases on them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "calls.h"

namespace thinwire::slots {

// The node of each rank.
using Layout = std::vector<std::uint32_t>;

// One to four nodes of one to five ranks, which do not follow each other.
inline Layout random_layout(std::mt19937& random) {
  Layout made;
  const std::uint32_t nodes = 1 + random() % 4;
  for (std::uint32_t node = 0; node < nodes; ++node)
    made.insert(made.end(), 1 + random() % 5, node);
  std::ranges::shuffle(made, random);
  return made;
}

inline Case case_on(const Layout& nodes, std::uint32_t operation) {
  Case given{.operation = operation, .ranks = static_cast<int>(nodes.size())};
  given.nodes = nodes;
  const bool whole = operation == TW_STREAM_ALLREDUCE || operation == TW_STREAM_REDUCE;
  if (whole) given.way = TW_STREAM_DIRECT;
  return given;
}

}  // namespace thinwire::slots
