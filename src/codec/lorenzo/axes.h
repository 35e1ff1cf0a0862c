// Differences and sums along the axes of one chunk on the host. Inline, because who vectorises them
// compiles them more than once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "codec/lorenzo/bricks.h"

namespace thinwire::codec::lorenzo {

// A box filled up to whole bricks; rows of `pitch` values.
template <typename Word>
struct Padded {
  alignas(64) Word value[kBoxBytes / sizeof(Word)];
};

template <typename Word>
struct Plan {
  BrickGrid bricks;
  std::size_t pitch;  // values of a row in Padded
  std::size_t rows;   // of a plane in Padded

  explicit Plan(const ChunkBox& box)
      : bricks(brick_grid<Word>(box.dimension, box.x, box.y, box.z)),
        pitch(bricks.x * brick_row_pieces(box.dimension) * kPieceValues<Word>),
        rows(bricks.y * brick_rows(box.dimension)) {}

  std::size_t row(std::size_t z, std::size_t y) const { return (z * rows + y) * pitch; }
  std::size_t values(const ChunkBox& box) const {
    return row(bricks.z * brick_planes(box.dimension), 0);
  }
};

template <typename Word>
inline void difference_row(const Word* __restrict values, std::size_t count, std::size_t tuple,
                           Word* __restrict out) {
  const std::size_t first = std::min(count, tuple);
  for (std::size_t at = 0; at < first; ++at) out[at] = sign_to_low(values[at]);
  for (std::size_t at = first; at < count; ++at) {
    out[at] = static_cast<Word>(sign_to_low(values[at]) - sign_to_low(values[at - tuple]));
  }
}

template <typename Word>
inline void difference_rows(const Word* __restrict rows, const Word* __restrict before,
                            std::size_t count, Word* __restrict out) {
  for (std::size_t at = 0; at < count; ++at) out[at] = static_cast<Word>(rows[at] - before[at]);
}

template <typename Word>
inline void fold_all(Word* values, std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) values[at] = fold(values[at]);
}

// Sums in registers: each waits for the one before it.
template <std::size_t kTuple, typename Word>
inline void sum_row(const Word* __restrict residuals, std::size_t count, Word* __restrict out) {
  Word sums[kTuple] = {};
  std::size_t at = 0;
  for (; at + kTuple <= count; at += kTuple) {
    for (std::size_t place = 0; place < kTuple; ++place) {
      sums[place] = static_cast<Word>(sums[place] + residuals[at + place]);
      out[at + place] = sums[place];
    }
  }
  for (std::size_t place = 0; at < count; ++at, ++place) {
    out[at] = static_cast<Word>(sums[place] + residuals[at]);
  }
}

template <typename Word>
inline void sum_row(const Word* residuals, std::size_t count, std::size_t tuple, Word* out) {
  if (tuple == 1) return sum_row<1>(residuals, count, out);
  if (tuple == 2) return sum_row<2>(residuals, count, out);
  sum_row<3>(residuals, count, out);
}

template <typename Word>
inline void add_rows(Word* __restrict rows, const Word* __restrict before, std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) rows[at] = static_cast<Word>(rows[at] + before[at]);
}

// Residuals of a whole box, folded, into `out`; `other` is room for what is on the way.
template <typename Word>
inline void take_differences(const std::byte* source, const ChunkBox& box, std::size_t tuple,
                             const Plan<Word>& plan, Padded<Word>& other, Padded<Word>& out) {
  const bool is_whole = box.x == plan.pitch && box.y == plan.rows &&
                        box.z == plan.bricks.z * brick_planes(box.dimension);
  if (!is_whole) {
    std::fill_n(out.value, plan.values(box), Word{0});
    std::fill_n(other.value, plan.values(box), Word{0});
  }
  Word line[kBoxBytes / sizeof(Word)];
  for (std::size_t z = 0; z < box.z; ++z) {
    Word* const differences = box.dimension == 1 ? out.value : other.value;
    for (std::size_t y = 0; y < box.y; ++y) {
      std::memcpy(line, source + (z * box.y + y) * box.x * sizeof(Word), box.x * sizeof(Word));
      difference_row(line, box.x, tuple, differences + plan.row(z, y));
    }
    if (box.dimension == 1) continue;
    const Word* const plane = other.value + plan.row(z, 0);
    std::copy_n(plane, plan.pitch, out.value + plan.row(z, 0));
    difference_rows(plane + plan.pitch, plane, (box.y - 1) * plan.pitch,
                    out.value + plan.row(z, 1));
  }
  if (box.dimension == 3) {
    for (std::size_t z = box.z; z-- > 1;) {
      difference_rows(out.value + plan.row(z, 0), out.value + plan.row(z - 1, 0),
                      box.y * plan.pitch, other.value);
      std::copy_n(other.value, box.y * plan.pitch, out.value + plan.row(z, 0));
    }
  }
  fold_all(out.value, plan.values(box));
}

template <typename Word>
inline void sum_up(const ChunkBox& box, std::size_t tuple, const Plan<Word>& plan,
                   Padded<Word>& box_values, std::byte* out) {
  Word* const values = box_values.value;
  for (std::size_t at = 0; at < plan.values(box); ++at) values[at] = unfold(values[at]);
  for (std::size_t z = 1; z < box.z; ++z) {
    add_rows(values + plan.row(z, 0), values + plan.row(z - 1, 0), box.y * plan.pitch);
  }
  for (std::size_t z = 0; z < box.z; ++z) {
    for (std::size_t y = 0; y < box.y; ++y) {
      Word* const row = values + plan.row(z, y);
      if (y > 0) add_rows(row, row - plan.pitch, plan.pitch);
    }
  }
  // Sums along x come last, and into a copy: the rows above are still needed without them.
  Word line[kBoxBytes / sizeof(Word)];
  for (std::size_t z = 0; z < box.z; ++z) {
    for (std::size_t y = 0; y < box.y; ++y) {
      sum_row(values + plan.row(z, y), box.x, tuple, line);
      for (std::size_t at = 0; at < box.x; ++at) line[at] = sign_to_high(line[at]);
      std::memcpy(out + (z * box.y + y) * box.x * sizeof(Word), line, box.x * sizeof(Word));
    }
  }
}

}  // namespace thinwire::codec::lorenzo
