// Which blocks a tile of the device has, and where they lie; on the host and on the device.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/cuda/tiles.h"
#include "codec/zfp/gather.h"

namespace thinwire::codec::zfp {

struct TilePlan {
  Grid whole;  // the extents of every chunk but the last
  Grid last;
  std::uint64_t chunks;
  std::uint64_t chunk_values;  // of every chunk but the last
  std::uint32_t tile_blocks;
  int block_bits;

  // Returns a value: a reference to one of two would need them in memory.
  THINWIRE_HOST_DEVICE Grid grid(const cuda::Tile& tile) const {
    const bool is_last = tile.chunk + 1 == chunks;
    return {.x = is_last ? last.x : whole.x,
            .y = is_last ? last.y : whole.y,
            .z = is_last ? last.z : whole.z};
  }

  // The bytes of a whole tile's payload.
  constexpr std::uint32_t tile_bytes() const {
    return tile_blocks * static_cast<std::uint32_t>(block_bits) / 8;
  }

  // The blocks of the tile's chunk before its own, and how many are its own. A payload below 2^31
  // bytes has fewer than 2^32 blocks.
  THINWIRE_HOST_DEVICE std::uint32_t first_block(const cuda::Tile& tile) const {
    return tile.place * tile_blocks;
  }
  THINWIRE_HOST_DEVICE std::uint32_t blocks(const cuda::Tile& tile) const {
    const auto left = static_cast<std::uint32_t>(grid(tile).blocks()) - first_block(tile);
    return left < tile_blocks ? left : tile_blocks;
  }

  THINWIRE_HOST_DEVICE static std::uint32_t quotient(std::uint32_t value, std::uint32_t by) {
    std::uint32_t result = value / by;
#if defined(__CUDA_ARCH__)
    // Opaque, because the compiler would rather divide again at every use than keep a register.
    asm volatile("" : "+r"(result));
#endif
    return result;
  }

  // Block `index` of a chunk with these extents.
  template <int kRank>
  THINWIRE_HOST_DEVICE static BlockPlace place(const Grid& grid, std::uint32_t index) {
    if constexpr (kRank == 1) return block_place(grid, index, 0, 0);
    const auto along_x = static_cast<std::uint32_t>(Grid::blocks_along(grid.x));
    const std::uint32_t row = quotient(index, along_x);
    if constexpr (kRank == 2) return block_place(grid, index - row * along_x, row, 0);
    const auto along_y = static_cast<std::uint32_t>(Grid::blocks_along(grid.y));
    const std::uint32_t z = quotient(row, along_y);
    return block_place(grid, index - row * along_x, row - z * along_y, z);
  }
};

}  // namespace thinwire::codec::zfp
