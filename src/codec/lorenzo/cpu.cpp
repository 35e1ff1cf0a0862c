// Codec 4: integer Lorenzo residuals in bit planes, lossless. See spec/codec-lorenzo.md.
#include "base/parse.h"
#include "codec/lorenzo/payload.h"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using namespace lorenzo;

Status invalid() {
  return {StatusCode::kInvalidArgument, "lorenzo takes tuple=<values of a point>, 1 to 3"};
}

Result<std::uint64_t> parse(std::span<const Option> options) {
  std::uint64_t tuple = 1;
  for (const Option& option : options) {
    const auto number = parse_whole_number(option.value);
    if (option.key != "tuple" || !number) return invalid();
    tuple = *number;
  }
  if (tuple < 1 || tuple > kMaxTuple) return invalid();
  return tuple;
}

std::string describe(std::uint64_t parameter) { return "tuple=" + std::to_string(parameter); }

Status check(std::uint64_t parameter, Dtype, int) {
  if (parameter >= 1 && parameter <= kMaxTuple) return {};
  return {StatusCode::kDamaged, "lorenzo: the parameter is no tuple"};
}

Shape chunk_shape(const Shape& shape, Dtype dtype, std::uint64_t) {
  const std::uint64_t row = kRowPieces * kPieceBytes / dtype_size(dtype);
  int slower = 0;
  for (int axis = 0; axis + 1 < shape.rank; ++axis) {
    slower += shape.extent[static_cast<std::size_t>(axis)] > 1;
  }
  Shape box{.rank = shape.rank, .extent = {}};
  for (int axis = shape.rank - 1, rows = 0; axis >= 0; --axis) {
    const auto at = static_cast<std::size_t>(axis);
    if (axis == shape.rank - 1) {
      box.extent[at] = slower == 0 ? kBoxBytes / dtype_size(dtype) : row;
    } else if (shape.extent[at] == 1) {
      box.extent[at] = 1;
    } else if (slower == 1) {
      box.extent[at] = kBox2Rows;
    } else {
      box.extent[at] = rows++ == 0 ? kBox3Rows : kBox3Planes;
    }
  }
  return box;
}

std::uint64_t bound(const Chunk& chunk, std::uint64_t) {
  // As many bricks as a chunk of this many values, however clipped, can touch.
  const ChunkBox box(chunk.shape);
  const std::uint32_t bricks = chunk.dtype == Dtype::kF32   ? bricks_of<std::uint32_t>(box)
                               : chunk.dtype == Dtype::kF64 ? bricks_of<std::uint64_t>(box)
                                                            : bricks_of<std::uint16_t>(box);
  return whole_words(width_bytes(bricks) + std::uint64_t{bricks} * kBrickWords * 4) + kSlackBytes;
}

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                             std::byte* out) {
  const ChunkBox box(chunk.shape);
  const int tuple = static_cast<int>(parameter);
  if (chunk.dtype == Dtype::kF32) return encode_values<std::uint32_t>(source, box, tuple, out);
  if (chunk.dtype == Dtype::kF64) return encode_values<std::uint64_t>(source, box, tuple, out);
  return encode_values<std::uint16_t>(source, box, tuple, out);
}

Status decode(ByteView encoded, const Chunk& chunk, std::uint64_t parameter, std::byte* out) {
  const ChunkBox box(chunk.shape);
  const int tuple = static_cast<int>(parameter);
  if (chunk.dtype == Dtype::kF32) return decode_values<std::uint32_t>(encoded, box, tuple, out);
  if (chunk.dtype == Dtype::kF64) return decode_values<std::uint64_t>(encoded, box, tuple, out);
  return decode_values<std::uint16_t>(encoded, box, tuple, out);
}

}  // namespace

const Codec kLorenzo = {
    .id = 4,
    .name = "lorenzo",
    .summary = "lossless for fields: Lorenzo residuals in bit planes",
    .options = "tuple=<values of a point>",
    .example = "lorenzo:tuple=1",
    .version = 0,
    .lossless = true,
    .fixed_size = false,
    .dtypes = dtype_bit(Dtype::kF32) | dtype_bit(Dtype::kF64) | dtype_bit(Dtype::kF16) |
              dtype_bit(Dtype::kBf16),
    .max_rank = 3,
    .parse = parse,
    .describe = describe,
    .check = check,
    .chunk_shape = chunk_shape,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .place_in_auto = {0, 1, 1, 2, 2, 0, 0},
    .strides = {.key = "tuple", .most = 3},
#ifdef THINWIRE_CUDA
    .device = &kLorenzoDevice,
#endif
};

}  // namespace thinwire::codec
