// The arrays that a run reads and writes.
#pragma once

#include <cstddef>
#include <span>

namespace thinwire::collective {

// The user's: where each block begins; nullptr for blocks that this rank does not hold.
struct Arrays {
  std::span<std::byte* const> input;
  std::span<std::byte* const> output;
};

}  // namespace thinwire::collective
