#include "codec/layout.h"

#include <algorithm>

namespace thinwire::codec {

Chunk Layout::chunk(std::uint64_t index) const {
  Chunk piece = array;
  piece.shape.extent[0] = std::min(chunk_planes, array.shape.extent[0] - index * chunk_planes);
  return piece;
}

Layout make_layout(const Codec& codec, std::uint64_t parameter, const Chunk& array) {
  Chunk plane = array;
  plane.shape.extent[0] = 1;
  Layout layout{};
  layout.array = array;
  layout.chunk_planes = codec.chunk_extent(array.shape, array.dtype, parameter);
  layout.plane_bytes = plane.raw_bytes();
  layout.chunks =
      array.shape.count() == 0 ? 0 : ceil_div(array.shape.extent[0], layout.chunk_planes);
  return layout;
}

}  // namespace thinwire::codec
