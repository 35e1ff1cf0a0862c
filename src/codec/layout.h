// How an array is cut into chunks and where the frame's parts lie; the same on both sides.
#pragma once

#include "base/host_device.h"
#include "base/status.h"
#include "codec/codec.h"
#include "frame/header.h"

namespace thinwire::codec {

// One row of the chunk table: size in the low 31 bits, the top bit marks a chunk stored raw.
inline constexpr std::size_t kTableRowBytes = 8;
inline constexpr std::uint32_t kRawChunk = 0x80000000u;
inline constexpr std::uint32_t kMostChunkBytes = kRawChunk - 1;

struct Layout {
  Chunk array;                 // the whole array
  std::uint64_t chunk_planes;  // planes of the slowest axis in every chunk but the last
  std::uint64_t plane_bytes;   // raw bytes of one such plane
  std::uint64_t chunks;

  THINWIRE_HOST_DEVICE std::uint64_t table_bytes() const { return chunks * kTableRowBytes; }
  Chunk chunk(std::uint64_t index) const;
  THINWIRE_HOST_DEVICE std::uint64_t raw_offset(std::uint64_t index) const {
    return index * chunk_planes * plane_bytes;
  }
};

// `array` must be one that the codec takes (checked by the caller); an empty one has no chunks.
Layout make_layout(const Codec& codec, std::uint64_t parameter, const Chunk& array);

}  // namespace thinwire::codec
