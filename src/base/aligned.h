// How parts of lent memory lie.
#pragma once

#include <cstdint>

namespace thinwire {

// `bytes` up to the next multiple of 256, which such memory and each part of it begin at.
constexpr std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 255) & ~std::uint64_t{255}; }

}  // namespace thinwire
