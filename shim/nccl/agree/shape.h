// The tree of a communicator's ranks. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "agree/limits.h"

namespace thinwire::nccl::agree {

constexpr int parent_of(int rank) { return (rank - 1) / kFanOut; }
constexpr int first_child(int rank) { return kFanOut * rank + 1; }

constexpr int children_of(int rank, int ranks) {
  const std::int64_t first = std::int64_t{kFanOut} * rank + 1;
  return static_cast<int>(std::clamp<std::int64_t>(ranks - first, 0, kFanOut));
}

constexpr bool is_below(int top, int rank) {
  while (rank > top) rank = parent_of(rank);
  return rank == top;
}

// Which child of `top`, counted from 0, has `rank` below it; it is below `top`, and another.
constexpr int way_to(int top, int rank) {
  while (parent_of(rank) != top) rank = parent_of(rank);
  return rank - first_child(top);
}

// The ranks of the subtree of `top`, which is one of them.
constexpr int ranks_below(int top, int ranks) {
  std::int64_t first = top, count = 1, found = 0;
  while (first < ranks) {
    found += std::min<std::int64_t>(count, ranks - first);
    first = kFanOut * first + 1;
    count *= kFanOut;
  }
  return static_cast<int>(found);
}

}  // namespace thinwire::nccl::agree
