#include "codec/layout.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace thinwire::codec {

Chunk Layout::chunk(std::uint64_t index) const {
  Chunk piece{array.dtype, whole, index};
  for (int axis = array.shape.rank - 1; axis >= 0; --axis) {
    const auto each = static_cast<std::size_t>(axis);
    const std::uint64_t begin = index % grid.extent[each] * whole.extent[each];
    index /= grid.extent[each];
    piece.shape.extent[each] = std::min(whole.extent[each], array.shape.extent[each] - begin);
  }
  return piece;
}

std::uint64_t Layout::raw_offset(std::uint64_t index) const {
  std::uint64_t offset = 0;
  std::uint64_t stride = dtype_size(array.dtype);
  for (int axis = array.shape.rank - 1; axis >= 0; --axis) {
    const auto each = static_cast<std::size_t>(axis);
    offset += index % grid.extent[each] * whole.extent[each] * stride;
    index /= grid.extent[each];
    stride *= array.shape.extent[each];
  }
  return offset;
}

namespace {

Layout::Axes axes_of(const Shape& array, const Shape& whole, const Shape& grid) {
  Layout::Axes axes;
  const auto at = [&](int from_fastest) {
    return static_cast<std::size_t>(array.rank - 1 - from_fastest);
  };
  axes.x = array.extent[at(0)];
  axes.whole_x = whole.extent[at(0)];
  axes.chunks_x = axes.chunks_xy = grid.extent[at(0)];
  if (array.rank < 2) return axes;
  axes.y = array.extent[at(1)];
  axes.whole_y = whole.extent[at(1)];
  axes.chunks_xy *= grid.extent[at(1)];
  if (array.rank < 3) return axes;
  axes.z = array.extent[at(2)];
  axes.whole_z = whole.extent[at(2)];
  return axes;
}

// `grid` below 2^31, extents below 2^32.
GridAxis make_axis(std::uint64_t extent, std::uint64_t whole, std::uint64_t stride) {
  GridAxis axis{};
  const std::uint64_t grid = ceil_div(extent, whole);
  axis.grid = static_cast<std::uint32_t>(grid);
  axis.whole = static_cast<std::uint32_t>(std::min(whole, extent));
  axis.last = static_cast<std::uint32_t>(extent - (grid - 1) * whole);
  // With 2^(31 + shift) / grid, rounded up, the product is exact enough for 31 bits.
  axis.shift = static_cast<std::uint32_t>(std::bit_width(grid - 1));
  axis.factor = static_cast<std::uint32_t>(ceil_div(std::uint64_t{1} << (31 + axis.shift), grid));
  axis.step = whole * stride;
  axis.stride = stride;
  return axis;
}

// Whether it all fits.
bool fill_small(Layout& layout) {
  const Shape& shape = layout.array.shape;
  if (layout.chunks == 0 || layout.chunks >= std::uint64_t{1} << 31 || shape.rank > 3) return false;
  std::uint64_t stride = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const bool exists = axis < shape.rank;
    const auto each = static_cast<std::size_t>(exists ? shape.rank - 1 - axis : 0);
    const std::uint64_t extent = exists ? shape.extent[each] : 1;
    const std::uint64_t whole = exists ? layout.whole.extent[each] : 1;
    if (std::min(whole, extent) > UINT32_MAX) return false;
    layout.small[axis] = make_axis(extent, whole, exists ? stride : 1);
    stride *= extent;
  }
  return true;
}

}  // namespace

Shape coded_shape(const Codec& codec, const Shape& shape, bool as_line) {
  if (codec.flat || as_line) return Shape::line(shape.count());
  if (shape.rank <= codec.max_rank) return shape;
  const int more = shape.rank - codec.max_rank;
  Shape coded{.rank = codec.max_rank, .extent = {}};
  std::copy_n(shape.extent.begin() + more, codec.max_rank, coded.extent.begin());
  for (int axis = 0; axis < more; ++axis) {
    coded.extent[0] *= shape.extent[static_cast<std::size_t>(axis)];
  }
  return coded;
}

Layout make_layout(const Codec& codec, std::uint64_t parameter, const Chunk& array, bool as_line) {
  Layout layout{};
  layout.array = array;
  layout.array.shape = coded_shape(codec, array.shape, as_line);
  const Shape& shape = layout.array.shape;
  layout.whole = codec.chunk_shape(shape, array.dtype, parameter);
  layout.grid = shape;
  layout.chunks = shape.count() == 0 ? 0 : 1;
  for (int axis = 0; axis < shape.rank; ++axis) {
    const auto each = static_cast<std::size_t>(axis);
    layout.grid.extent[each] = ceil_div(shape.extent[each], layout.whole.extent[each]);
    layout.chunks *= layout.grid.extent[each];
    layout.in_boxes |= axis > 0 && layout.grid.extent[each] > 1;
  }
  layout.axes = axes_of(shape, layout.whole, layout.grid);
  layout.is_small = fill_small(layout);
  return layout;
}

void gather(const std::byte* array, const Box& box, std::uint64_t value_bytes, std::byte* out) {
  for_each_row(box, value_bytes, [&](std::uint64_t at, std::uint64_t inside) {
    std::memcpy(out + inside, array + at, box.x * value_bytes);
  });
}

void scatter(const std::byte* values, const Box& box, std::uint64_t value_bytes, std::byte* array) {
  for_each_row(box, value_bytes, [&](std::uint64_t at, std::uint64_t inside) {
    std::memcpy(array + at, values + inside, box.x * value_bytes);
  });
}

}  // namespace thinwire::codec
