#include "collective/cutting.h"

#include <algorithm>

#include "base/bytes.h"
#include "codec/layout.h"

namespace thinwire::collective {
namespace {

// Whole boxes of any codec that "auto" may choose, and enough for raw values.
constexpr std::uint64_t kRowsOfAnyBox = 16;
constexpr std::uint64_t kValuesOfAnyChunk = 4096;

}  // namespace

Shape Block::piece_shape(std::uint32_t piece) const {
  Shape result = shape;
  result.extent[0] = std::min(rows_per_piece, rows() - piece * rows_per_piece);
  return result;
}

std::uint64_t Cutter::rows_of_box(const Shape& shape) const {
  if (spec_.kind == codec::Spec::Kind::kCodec && spec_.codec->takes(dtype_, spec_.parameter) &&
      shape.count() > 0) {
    // A row of an array whose slowest axes are taken as one is as many of the codec's.
    const Shape coded = codec::coded_shape(*spec_.codec, shape);
    const std::uint64_t each = std::max<std::uint64_t>(coded.extent[0] / shape.extent[0], 1);
    const Shape box = spec_.codec->chunk_shape(coded, dtype_, spec_.parameter);
    return std::max<std::uint64_t>(ceil_div(box.extent[0], each), 1);
  }
  return shape.rank == 1 ? kValuesOfAnyChunk : kRowsOfAnyBox;
}

Block Cutter::cut(const Shape& array, std::uint64_t first_row, std::uint64_t rows) const {
  Block block;
  block.shape = array;
  block.shape.extent[0] = rows;
  for (int axis = 1; axis < array.rank; ++axis) block.row_values *= array.extent[axis];
  block.offset = first_row * block.row_values;
  const std::uint64_t box_rows = rows_of_box(array);
  const std::uint64_t box_bytes = box_rows * block.row_values * dtype_size(dtype_);
  block.rows_per_piece = box_rows * std::max<std::uint64_t>(piece_bytes_ / box_bytes, 1);
  block.pieces = static_cast<std::uint32_t>(ceil_div(rows, block.rows_per_piece));
  return block;
}

Block Cutter::whole(std::uint64_t count) const { return part(count, 0, 1); }

Block Cutter::part(std::uint64_t count, std::uint32_t index, std::uint32_t parts) const {
  const auto wanted = spec_.shape_of(count);
  const Shape shape = wanted.ok() ? *wanted : Shape::line(count);
  const std::uint64_t rows = shape.extent[0], box_rows = rows_of_box(shape);
  const std::uint64_t boxes = ceil_div(rows, box_rows);
  const std::uint64_t least = boxes / parts, more = boxes % parts;
  const auto rows_before = [&](std::uint64_t part) {
    return std::min((part * least + std::min(part, more)) * box_rows, rows);
  };
  Block block = cut(shape, rows_before(index), rows_before(index + 1) - rows_before(index));
  block.is_raw = !wanted.ok();
  return block;
}

}  // namespace thinwire::collective
