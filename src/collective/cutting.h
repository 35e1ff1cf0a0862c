// How the arrays of a collective are cut: into blocks for ranks, and blocks into pieces that are
// coded and sent one by one. All ranks cut alike.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "codec/spec.h"

namespace thinwire::collective {

// A dense run of values, cut along its slowest axis alone.
struct Block {
  Shape shape;                       // extent 0 along the slowest axis if it is empty
  std::uint64_t offset = 0;          // from the first value of its array, in values
  std::uint64_t row_values = 1;      // along the slowest axis
  std::uint64_t rows_per_piece = 1;  // of all pieces but the last
  std::uint32_t pieces = 0;
  bool is_raw = false;  // a lossy codec would not get the shape that it was given: stays raw

  std::uint64_t rows() const { return shape.extent[0]; }
  std::uint64_t values() const { return rows() * row_values; }

  // Values before a piece, and its shape.
  std::uint64_t piece_offset(std::uint32_t piece) const {
    return piece * rows_per_piece * row_values;
  }
  Shape piece_shape(std::uint32_t piece) const;
};

// Cuts arrays of one call.
class Cutter {
 public:
  // Pieces hold about `piece_bytes` bytes, in whole boxes of the codec's chunks.
  Cutter(const codec::Spec& spec, Dtype dtype, std::uint64_t piece_bytes)
      : spec_(spec), dtype_(dtype), piece_bytes_(piece_bytes) {}

  // One array, whole: in the spec's shape if that fits it, else a line.
  Block whole(std::uint64_t count) const;

  // Part `index` of `parts` of an array of `count` values, near equal in whole boxes; those at the
  // end may be empty.
  Block part(std::uint64_t count, std::uint32_t index, std::uint32_t parts) const;

 private:
  std::uint64_t rows_of_box(const Shape& shape) const;
  Block cut(const Shape& array, std::uint64_t first_row, std::uint64_t rows) const;

  const codec::Spec& spec_;
  Dtype dtype_;
  std::uint64_t piece_bytes_;
};

}  // namespace thinwire::collective
