// How the payloads of a codec of fixed size are cut into tiles, one for each thread block; on the
// host and on the device.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace thinwire::codec::cuda {

// A run of payload bytes inside one chunk.
struct Tile {
  std::uint64_t chunk;
  std::uint32_t place;        // which one of its chunk
  std::uint32_t bytes;        // of payload
  std::uint64_t offset;       // of its first byte in the chunk's payload, whole words
  std::uint32_t chunk_bytes;  // of the chunk's payload
  std::uint32_t chunk_tiles;  // of the chunk
};

// Chunks of equal payloads, the last perhaps smaller, each cut into tiles of `tile_bytes`, a
// multiple of 8, the last of each perhaps smaller.
struct Tiles {
  std::uint64_t chunks;
  std::uint32_t chunk_bytes;
  std::uint32_t last_bytes;
  std::uint32_t tile_bytes;
  std::uint32_t chunk_tiles;
  std::uint32_t last_tiles;

  THINWIRE_HOST_DEVICE std::uint64_t count() const {
    return chunks == 0 ? 0 : (chunks - 1) * chunk_tiles + last_tiles;
  }

  // Bytes of all payloads together.
  THINWIRE_HOST_DEVICE std::uint64_t payload_bytes() const {
    return chunks == 0 ? 0 : (chunks - 1) * chunk_bytes + last_bytes;
  }

  // For fewer than 2^32 tiles, all that a grid can have: division of longer words is slow on a
  // device.
  THINWIRE_HOST_DEVICE Tile at(std::uint32_t index) const {
    Tile tile{};
    const std::uint32_t chunk = index / chunk_tiles;
    tile.chunk = chunk;
    tile.place = index - chunk * chunk_tiles;
    const bool is_last = tile.chunk + 1 == chunks;
    tile.chunk_bytes = is_last ? last_bytes : chunk_bytes;
    tile.chunk_tiles = is_last ? last_tiles : chunk_tiles;
    tile.offset = static_cast<std::uint64_t>(tile.place) * tile_bytes;
    const auto left = static_cast<std::uint32_t>(tile.chunk_bytes - tile.offset);
    tile.bytes = left < tile_bytes ? left : tile_bytes;
    return tile;
  }
};

// Payloads are below 2^31 bytes each: the rows of the chunk table end there.
constexpr Tiles make_tiles(std::uint64_t chunks, std::uint32_t chunk_bytes,
                           std::uint32_t last_bytes, std::uint32_t tile_bytes) {
  const auto tiles_of = [&](std::uint32_t bytes) {
    return bytes / tile_bytes + (bytes % tile_bytes != 0);
  };
  return {.chunks = chunks,
          .chunk_bytes = chunk_bytes,
          .last_bytes = last_bytes,
          .tile_bytes = tile_bytes,
          .chunk_tiles = tiles_of(chunk_bytes),
          .last_tiles = tiles_of(last_bytes)};
}

}  // namespace thinwire::codec::cuda
