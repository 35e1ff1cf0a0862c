#include "codec/layout.h"

#include <algorithm>

namespace thinwire::codec {

Chunk Layout::chunk(std::uint64_t index) const {
  Chunk piece{array.dtype, whole};
  for (int axis = array.shape.rank - 1; axis >= 0; --axis) {
    const auto each = static_cast<std::size_t>(axis);
    const std::uint64_t begin = index % grid.extent[each] * whole.extent[each];
    index /= grid.extent[each];
    piece.shape.extent[each] = std::min(whole.extent[each], array.shape.extent[each] - begin);
  }
  return piece;
}

Layout make_layout(const Codec& codec, std::uint64_t parameter, const Chunk& array) {
  Layout layout{};
  layout.array = array;
  if (codec.flat) layout.array.shape = Shape::line(array.shape.count());
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
  return layout;
}

}  // namespace thinwire::codec
