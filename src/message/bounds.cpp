// How long frames can be, before they are written.
#include <algorithm>

#include "codec/layout.h"
#include "codec/registry.h"
#include "message/host.h"
#include "message/missing.h"

namespace thinwire::message {
namespace {

Status check_array(const Coder& coder, const codec::Chunk& array) {
  if (array.shape.rank < 1 || array.shape.rank > kMaxRank) {
    return {StatusCode::kInvalidArgument, "an array's rank is 1 to 4"};
  }
  if (!array.shape.is_sound(dtype_size(array.dtype))) {
    return {StatusCode::kInvalidArgument, "an extent is zero, or the extents overflow"};
  }
  // Bounds add headers and tables to this; a quarter of the range leaves them room.
  if (array.raw_bytes() > UINT64_MAX / 4) {
    return {StatusCode::kInvalidArgument, "the array is too large"};
  }
  if (!coder.codec->takes(array.dtype)) {
    return {StatusCode::kUnsupported, std::string(coder.codec->name) + " does not take " +
                                          dtype_name(array.dtype) + " arrays"};
  }
  const int rank = codec::coded_shape(*coder.codec, array.shape, coder.as_line).rank;
  Status status = coder.codec->check(coder.parameter, array.dtype, rank);
  if (!status.ok()) return {StatusCode::kUnsupported, status.message()};
  return {};
}

// A chunk of any codec may be stored raw, except if a fixed size is the codec's promise.
std::uint64_t chunk_bound(const Coder& coder, const codec::Chunk& chunk) {
  const std::uint64_t coded = coder.codec->bound(chunk, coder.parameter);
  if (coder.fill.exists()) {
    return std::max(most_mask_bytes(chunk.shape.count()) + coded, chunk.raw_bytes());
  }
  return coder.codec->fixed_size ? coded : std::max(coded, chunk.raw_bytes());
}

// kMostChunkBytes and more: no frame can say such a chunk's size.
struct FrameBound {
  std::uint64_t frame = 0;
  std::uint64_t chunk = 0;
};

FrameBound bounds_of(const Coder& coder, const codec::Chunk& array) {
  const codec::Layout layout = coder.layout(array);
  FrameBound bounds;
  bounds.frame = make_header(coder, array, true).header_bytes() +
                 (coder.fill.exists() ? frame::kFillBytes : 0) + layout.table_bytes();
  codec::for_each_chunk_shape(layout, [&](const Shape& shape, std::uint64_t count) {
    const std::uint64_t bytes = chunk_bound(coder, {array.dtype, shape});
    bounds.frame += count * bytes;
    bounds.chunk = std::max(bounds.chunk, bytes);
  });
  return bounds;
}

}  // namespace

Result<std::uint64_t> bound(const Coder& coder, const codec::Chunk& array) {
  if (Status status = check_array(coder, array); !status.ok()) return status;
  std::uint64_t most = 0;
  for (const Coder& either : {coder, raw_coder()}) {
    const FrameBound bounds = bounds_of(either, array);
    if (bounds.chunk > codec::kMostChunkBytes) {
      return {StatusCode::kUnsupported, "a plane of the array is too large for one chunk"};
    }
    most = std::max(most, bounds.frame);
  }
  return most;
}

Result<std::uint64_t> fixed_bytes(const Coder& coder, const codec::Chunk& array) {
  if (auto most = bound(coder, array); !most.ok()) return most;
  if (coder.codec->fixed_size && !coder.fill.exists()) return bounds_of(coder, array).frame;
  return {StatusCode::kUnsupported, std::string("how long a frame of ") + coder.codec->name +
                                        " is depends on the data; codecs of fixed size do not"};
}

bool is_hopeless(const Coder& coder, const codec::Chunk& array) {
  if (coder.codec == &codec::raw_codec()) return true;
  // With missing values a frame may be as short as its table; an array of nothing has none.
  const bool may_miss = coder.fill.exists() && array.shape.count() > 0;
  if (!coder.codec->fixed_size || may_miss) return false;
  return bounds_of(coder, array).frame >= array.raw_bytes();
}

Status check_capacity(std::uint64_t most, std::uint64_t capacity) {
  if (capacity >= most) return {};
  return {StatusCode::kTooSmall, "a frame of this array may take " + std::to_string(most) +
                                     " bytes, the destination has " + std::to_string(capacity)};
}

}  // namespace thinwire::message
