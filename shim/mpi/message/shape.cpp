#include "shim/mpi/message/shape.h"

#include <algorithm>
#include <cstring>

namespace thinwire::mpi {

std::optional<tw_shape> shape_of(const tw_codec* codec, const TypeFacts& type,
                                 std::uint64_t bytes) {
  const std::uint64_t count = bytes / leaf_bytes(type.leaf);
  tw_shape shape{};
  if (tw_codec_shape(codec, type.leaf, count, &shape) != TW_OK) return std::nullopt;
  // A line is also the answer where the spec names no shape, and only then the datatype is asked.
  const bool stated = std::strstr(tw_codec_spec(codec), "shape=") != nullptr;
  if (stated || type.rank < 2 || bytes != type.size) return shape;
  std::uint64_t product = 1;
  for (std::uint32_t at = 0; at < type.rank; ++at) product *= type.extent[at];
  if (product != count) return shape;
  shape.rank = type.rank;
  std::copy_n(type.extent, 4, shape.extent);
  return shape;
}

}  // namespace thinwire::mpi
