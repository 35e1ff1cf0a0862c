// Which values of an array make up a block, and what stands in for those that a block at the edge
// lacks. See spec/codec-zfp.md, "Blocks".
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/host_device.h"
#include "codec/zfp/bits.h"
#include "codec/zfp/transform.h"

namespace thinwire::codec::zfp {

// An array's extents, the fastest first; 1 beyond its rank.
struct Grid {
  std::uint64_t x = 1;
  std::uint64_t y = 1;
  std::uint64_t z = 1;

  THINWIRE_HOST_DEVICE static constexpr std::uint64_t blocks_along(std::uint64_t extent) {
    return extent / 4 + (extent % 4 != 0);
  }
  THINWIRE_HOST_DEVICE constexpr std::uint64_t blocks() const {
    return blocks_along(x) * blocks_along(y) * blocks_along(z);
  }
};

// The position of a block: its first value, counted in the array, and how many values it has along
// each axis, 1 to 4 (1 beyond the rank).
struct BlockPlace {
  std::uint64_t first;
  int x, y, z;
};

THINWIRE_HOST_DEVICE constexpr int present_along(std::uint64_t extent, std::uint64_t block) {
  const std::uint64_t left = extent - 4 * block;
  return left < 4 ? static_cast<int>(left) : 4;
}

// The place of the block with these indices along each axis.
THINWIRE_HOST_DEVICE constexpr BlockPlace block_place(const Grid& grid, std::uint64_t x,
                                                      std::uint64_t y, std::uint64_t z) {
  return {.first = (4 * z * grid.y + 4 * y) * grid.x + 4 * x,
          .x = present_along(grid.x, x),
          .y = present_along(grid.y, y),
          .z = present_along(grid.z, z)};
}

template <int kRank>
THINWIRE_HOST_DEVICE constexpr bool is_full(const BlockPlace& place) {
  return place.x == 4 && (kRank < 2 || place.y == 4) && (kRank < 3 || place.z == 4);
}

// Which of the `present` values along an axis stands at index i of a block.
THINWIRE_HOST_DEVICE constexpr int pad_index(int i, int present) {
  if (i < present) return i;
  return i == 2 && present == 2 ? 1 : 0;
}

// Calls body(i, offset) for every value i of the block; `offset` from its first value, in the
// array.
template <int kRank, typename Body>
THINWIRE_HOST_DEVICE inline void for_each_padded(const Grid& grid, const BlockPlace& place,
                                                 const Body& body) {
  THINWIRE_UNROLL
  for (int i = 0; i < kBlockValues<kRank>; ++i) {
    const int x = pad_index(i % 4, place.x);
    const int y = pad_index(i / 4 % 4, place.y);
    const int z = pad_index(i / 16, place.z);
    body(i, (static_cast<std::uint64_t>(z) * grid.y + y) * grid.x + x);
  }
}

// Calls body(i, offset) for every row of four that the block has values of; i is its first.
template <int kRank, typename Body>
THINWIRE_HOST_DEVICE inline void for_each_row(const Grid& grid, const BlockPlace& place,
                                              const Body& body) {
  THINWIRE_UNROLL
  for (int row = 0; row < kBlockValues<kRank> / 4; ++row) {
    const int y = row % 4;
    const int z = row / 4;
    if (y < place.y && z < place.z) {
      body(4 * row, (static_cast<std::uint64_t>(z) * grid.y + y) * grid.x);
    }
  }
}

// The values of a block of the array at `source`, at any alignment, padded.
template <typename Scalar, int kRank>
inline void gather_block(const std::byte* source, const Grid& grid, const BlockPlace& place,
                         Scalar (&values)[kBlockValues<kRank>]) {
  const std::byte* first = source + place.first * sizeof(Scalar);
  if (is_full<kRank>(place)) {
    for_each_row<kRank>(grid, place, [&](int i, std::uint64_t offset) {
      std::memcpy(values + i, first + offset * sizeof(Scalar), 4 * sizeof(Scalar));
    });
    return;
  }
  for_each_padded<kRank>(grid, place, [&](int i, std::uint64_t offset) {
    std::memcpy(values + i, first + offset * sizeof(Scalar), sizeof(Scalar));
  });
}

// Stores those values of a block that are part of the array.
template <typename Scalar, int kRank>
inline void scatter_block(const Scalar (&values)[kBlockValues<kRank>], const Grid& grid,
                          const BlockPlace& place, std::byte* out) {
  std::byte* first = out + place.first * sizeof(Scalar);
  if (is_full<kRank>(place)) {
    for_each_row<kRank>(grid, place, [&](int i, std::uint64_t offset) {
      std::memcpy(first + offset * sizeof(Scalar), values + i, 4 * sizeof(Scalar));
    });
    return;
  }
  for_each_row<kRank>(grid, place, [&](int i, std::uint64_t offset) {
    const auto present = static_cast<std::size_t>(place.x);
    std::memcpy(first + offset * sizeof(Scalar), values + i, present * sizeof(Scalar));
  });
}

}  // namespace thinwire::codec::zfp
