// How an array is cut into chunks and where the frame's parts lie; the same on both sides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.h"
#include "base/status.h"
#include "codec/codec.h"
#include "frame/header.h"

namespace thinwire::codec {

// The part of an array that one chunk covers: up to three axes, x the fastest; an axis that the
// array lacks has extent 1.
struct Box {
  std::uint64_t offset;  // of its first value from the array's first, in values
  std::uint64_t row;     // from one value to the next along y, in values
  std::uint64_t plane;   // the same along z
  std::uint32_t x, y, z;

  THINWIRE_HOST_DEVICE std::uint32_t count() const { return x * y * z; }
  THINWIRE_HOST_DEVICE bool is_dense() const {
    return (y == 1 || row == x) && (z == 1 || plane == std::uint64_t{y} * x);
  }
};

// Calls visit(offset in the array, offset among the box's values, which follow one another without
// gaps) for each row along x; offsets are in bytes.
template <typename Visit>
void for_each_row(const Box& box, std::uint64_t value_bytes, Visit&& visit) {
  const std::uint64_t row_bytes = box.x * value_bytes;
  std::uint64_t inside = 0;
  for (std::uint32_t z = 0; z < box.z; ++z) {
    for (std::uint32_t y = 0; y < box.y; ++y, inside += row_bytes) {
      visit((box.offset + z * box.plane + y * box.row) * value_bytes, inside);
    }
  }
}

// Copies the values of a box to `out`, one after the other, and back.
void gather(const std::byte* array, const Box& box, std::uint64_t value_bytes, std::byte* out);
void scatter(const std::byte* values, const Box& box, std::uint64_t value_bytes, std::byte* array);

// One row of the chunk table: size in the low 31 bits, the top bit marks a chunk stored raw.
inline constexpr std::size_t kTableRowBytes = 8;
inline constexpr std::uint32_t kRawChunk = 0x80000000u;
inline constexpr std::uint32_t kMostChunkBytes = kRawChunk - 1;

// Most raw bytes of a chunk that does not span the faster axes in full: those are gathered before
// they are encoded on the host.
inline constexpr std::uint64_t kMostBoxBytes = 64 * 1024;

// One axis of a grid of chunks, ready for devices: their division is slow.
struct GridAxis {
  std::uint32_t grid;    // chunks along it
  std::uint32_t whole;   // extent of all but the last one
  std::uint32_t last;    // extent of that one
  std::uint32_t factor;  // index / grid = (2 * index * factor) >> (32 + shift), below 2^31
  std::uint32_t shift;
  std::uint64_t step;    // from one chunk to the next, in values
  std::uint64_t stride;  // from one value to the next, in values
};

struct Layout {
  // The grid of chunks of an array of rank 1 to 3, x being the fastest axis; from it a thread of a
  // GPU finds a chunk without a loop.
  struct Axes {
    std::uint64_t x = 1, y = 1, z = 1;                    // extents of the array
    std::uint64_t whole_x = 1, whole_y = 1, whole_z = 1;  // of a whole chunk
    std::uint64_t chunks_x = 1, chunks_xy = 1;            // chunks along x, and in a plane of them
  };

  Chunk array;  // the whole array, in its coded shape
  Shape whole;  // of every chunk but those at the far ends of an axis
  Shape grid;   // chunks along each axis
  Axes axes;
  bool is_small;         // `small` says it all: fewer than 2^31 chunks, with extents below 2^32
  GridAxis small[3];     // fastest first; those that the array lacks have one chunk of extent 1
  std::uint64_t chunks;  // in all, in the order of the grid, slowest axis first
  bool in_boxes;  // chunks are boxes of rank 2 or 3; else their values lie one behind the other

  THINWIRE_HOST_DEVICE std::uint64_t table_bytes() const { return chunks * kTableRowBytes; }
  Chunk chunk(std::uint64_t index) const;

  // The part of the array that a chunk covers; for arrays of rank 1 to 3.
  THINWIRE_HOST_DEVICE Box box(std::uint64_t index) const;

  // The offset of the first byte of a chunk in the raw array.
  std::uint64_t raw_offset(std::uint64_t index) const;
};

// The shape in which a codec sees an array: one line if the codec is flat or `as_line` says so; if
// the array has more axes than the codec takes, the slowest ones are one.
Shape coded_shape(const Codec& codec, const Shape& shape, bool as_line = false);

// `array` must be one that the codec takes (checked by the caller); an empty one has no chunks.
Layout make_layout(const Codec& codec, std::uint64_t parameter, const Chunk& array,
                   bool as_line = false);

// Calls visit(shape, how many) for each of the shapes that the chunks have.
template <typename Visit>
void for_each_chunk_shape(const Layout& layout, Visit&& visit) {
  const int rank = layout.array.shape.rank;
  for (int clipped = 0; clipped < 1 << rank; ++clipped) {
    Shape shape = layout.whole;
    std::uint64_t count = 1;
    for (int axis = 0; axis < rank; ++axis) {
      const auto at = static_cast<std::size_t>(axis);
      const std::uint64_t all = layout.array.shape.extent[at];
      const bool is_clipped = (clipped >> axis & 1) != 0;
      if (is_clipped) shape.extent[at] = all % layout.whole.extent[at];
      count *= is_clipped ? shape.extent[at] != 0 : all / layout.whole.extent[at];
    }
    if (count > 0) visit(shape, count);
  }
}

// ---- Implementation ----

// Both below 2^32 for all arrays but the largest: division of longer words is slow on a device.
THINWIRE_HOST_DEVICE inline std::uint64_t divide(std::uint64_t dividend, std::uint64_t divisor) {
  if ((dividend | divisor) >> 32 != 0) return dividend / divisor;
  return static_cast<std::uint32_t>(dividend) / static_cast<std::uint32_t>(divisor);
}

THINWIRE_HOST_DEVICE inline std::uint32_t grid_rows(std::uint32_t index, const GridAxis& axis) {
  return static_cast<std::uint32_t>((std::uint64_t{2 * index} * axis.factor) >> 32) >> axis.shift;
}

THINWIRE_HOST_DEVICE inline Box Layout::box(std::uint64_t index) const {
  if (is_small) {
    const auto at = static_cast<std::uint32_t>(index);
    const std::uint32_t row = grid_rows(at, small[0]);
    const std::uint32_t plane = grid_rows(row, small[1]);
    const std::uint32_t x = at - row * small[0].grid, y = row - plane * small[1].grid;
    return {.offset = x * small[0].step + y * small[1].step + plane * small[2].step,
            .row = small[1].stride,
            .plane = small[2].stride,
            .x = x + 1 == small[0].grid ? small[0].last : small[0].whole,
            .y = y + 1 == small[1].grid ? small[1].last : small[1].whole,
            .z = plane + 1 == small[2].grid ? small[2].last : small[2].whole};
  }
  std::uint64_t z = 0, y = 0, x = index;
  if (array.shape.rank > 1) {
    z = divide(index, axes.chunks_xy);
    const std::uint64_t in_plane = index - z * axes.chunks_xy;
    y = divide(in_plane, axes.chunks_x);
    x = in_plane - y * axes.chunks_x;
  }
  const auto clipped = [](std::uint64_t left, std::uint64_t most) {
    return static_cast<std::uint32_t>(left < most ? left : most);
  };
  x *= axes.whole_x, y *= axes.whole_y, z *= axes.whole_z;
  Box box;
  box.row = axes.x;
  box.plane = axes.x * axes.y;
  box.offset = z * box.plane + y * box.row + x;
  box.x = clipped(axes.x - x, axes.whole_x);
  box.y = clipped(axes.y - y, axes.whole_y);
  box.z = clipped(axes.z - z, axes.whole_z);
  return box;
}

}  // namespace thinwire::codec
