#include "codec/lorenzo/bricks.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/vector_clones.h"

namespace thinwire::codec::lorenzo {
namespace {

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

// ---- Along the axes ----

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
  // Summed along x last, and behind a copy: the rows above are still needed as they were.
  Word line[kBoxBytes / sizeof(Word)];
  for (std::size_t z = 0; z < box.z; ++z) {
    for (std::size_t y = 0; y < box.y; ++y) {
      sum_row(values + plan.row(z, y), box.x, tuple, line);
      for (std::size_t at = 0; at < box.x; ++at) line[at] = sign_to_high(line[at]);
      std::memcpy(out + (z * box.y + y) * box.x * sizeof(Word), line, box.x * sizeof(Word));
    }
  }
}

// ---- Between the box and the matrices ----

// Calls move(piece, brick, first word of the piece in Padded) for every piece.
template <typename Word, typename Move>
inline void for_each_piece(const ChunkBox& box, const Plan<Word>& plan, Move&& move) {
  constexpr std::size_t kPieceWords = kPieceBytes / 4;
  const std::size_t step = brick_row_pieces(box.dimension) * kPieceWords;
  std::size_t brick = 0;
  for (std::size_t z = 0; z < plan.bricks.z; ++z) {
    for (std::size_t y = 0; y < plan.bricks.y; ++y, brick += plan.bricks.x) {
      for (int piece = 0; piece < kBrickPieces; ++piece) {
        const bool is_3d = box.dimension == 3;
        const int row = box.dimension == 1 ? 0 : is_3d ? piece_row(piece) : piece;
        const std::size_t first =
            plan.row(z * brick_planes(box.dimension) +
                         static_cast<std::size_t>(is_3d ? piece_plane(piece) : 0),
                     y * brick_rows(box.dimension) + static_cast<std::size_t>(row)) *
                sizeof(Word) / 4 +
            (box.dimension == 1 ? piece * kPieceWords : 0);
        for (std::size_t x = 0; x < plan.bricks.x; ++x) move(piece, brick + x, first + x * step);
      }
    }
  }
}

template <typename Word>
inline void to_matrices(const Padded<Word>& padded, const ChunkBox& box, const Plan<Word>& plan,
                        BrickMatrices& matrices) {
  for_each_piece<Word>(box, plan, [&](int piece, std::size_t brick, std::size_t first) {
    std::uint32_t words[4];
    std::memcpy(words, reinterpret_cast<const std::byte*>(padded.value) + 4 * first, sizeof words);
    for (int word = 0; word < 4; ++word) {
      matrices.word[matrix_row<Word>(piece, word)][brick] = words[word];
    }
  });
}

template <typename Word>
inline void from_matrices(const BrickMatrices& matrices, const ChunkBox& box,
                          const Plan<Word>& plan, Padded<Word>& padded) {
  for_each_piece<Word>(box, plan, [&](int piece, std::size_t brick, std::size_t first) {
    std::uint32_t words[4];
    for (int word = 0; word < 4; ++word) {
      words[word] = matrices.word[matrix_row<Word>(piece, word)][brick];
    }
    std::memcpy(reinterpret_cast<std::byte*>(padded.value) + 4 * first, words, sizeof words);
  });
}

// ---- Bits ----

// Transposes the first `columns` matrices: bit i of row r and bit r of row i change places.
template <int kWidth>
inline void exchange(BrickMatrices& matrices, int columns) {
  constexpr std::uint32_t kLow = 0xffffffffu / ((std::uint64_t{1} << kWidth) + 1);
  for (int base = 0; base < kBrickWords; base += 2 * kWidth) {
    for (int row = base; row < base + kWidth; ++row) {
      std::uint32_t* __restrict low = matrices.word[row];
      std::uint32_t* __restrict high = matrices.word[row + kWidth];
      for (int at = 0; at < columns; ++at) {
        const std::uint32_t moved = (low[at] >> kWidth ^ high[at]) & kLow;
        high[at] ^= moved;
        low[at] ^= moved << kWidth;
      }
    }
  }
}

inline void transpose(BrickMatrices& matrices, int columns) {
  exchange<16>(matrices, columns);
  exchange<8>(matrices, columns);
  exchange<4>(matrices, columns);
  exchange<2>(matrices, columns);
  exchange<1>(matrices, columns);
}

template <typename Word>
inline void find_widths(const BrickMatrices& matrices, int columns, Widths& widths) {
  std::uint32_t any[2][BrickMatrices::kColumns] = {};
  for (int row = 0; row < kBrickWords; ++row) {
    std::uint32_t* __restrict half = any[row / 16];
    for (int at = 0; at < columns; ++at) half[at] |= matrices.word[row][at];
  }
  for (int at = 0; at < columns; ++at) {
    const std::uint32_t all = any[0][at] | any[1][at];
    const std::uint32_t a = sizeof(Word) == 2 ? all & 0xffff : any[0][at];
    const std::uint32_t b = sizeof(Word) == 2 ? all >> 16 : any[1][at];
    widths.a[at] = static_cast<std::uint8_t>(std::bit_width(a));
    widths.b[at] = static_cast<std::uint8_t>(std::bit_width(b));
  }
}

// Whole vectors of columns.
int columns_of(std::uint32_t bricks) { return static_cast<int>((bricks + 15) / 16 * 16); }

template <typename Word>
inline void to_planes(const std::byte* source, const ChunkBox& box, int tuple,
                      BrickMatrices& matrices, Widths& widths) {
  Padded<Word> other, residuals;
  const Plan<Word> plan(box);
  take_differences(source, box, static_cast<std::size_t>(tuple), plan, other, residuals);
  const int columns = columns_of(plan.bricks.count());
  // Columns behind the last brick are worked on too, so they must have been written.
  for (auto& row : matrices.word) std::fill(row + plan.bricks.count(), row + columns, 0u);
  to_matrices(residuals, box, plan, matrices);
  find_widths<Word>(matrices, columns, widths);
  transpose(matrices, columns);
}

template <typename Word>
inline void from_planes(BrickMatrices& matrices, const ChunkBox& box, int tuple, std::byte* out) {
  Padded<Word> values;
  const Plan<Word> plan(box);
  transpose(matrices, columns_of(plan.bricks.count()));
  from_matrices(matrices, box, plan, values);
  sum_up(box, static_cast<std::size_t>(tuple), plan, values, out);
}

}  // namespace

ChunkBox::ChunkBox(const Shape& shape) : dimension(1), x(1), y(1), z(1) {
  x = static_cast<std::uint32_t>(shape.extent[static_cast<std::size_t>(shape.rank - 1)]);
  for (int axis = shape.rank - 2; axis >= 0; --axis) {
    const auto extent = static_cast<std::uint32_t>(shape.extent[static_cast<std::size_t>(axis)]);
    if (extent == 1) continue;
    (++dimension == 2 ? y : z) = extent;
  }
}

// The clones cannot be templates.
#define THINWIRE_LORENZO_BRICKS(Word, suffix)                                                    \
  THINWIRE_VECTOR_CLONES void make_planes_##suffix(const std::byte* source, const ChunkBox& box, \
                                                   int tuple, BrickMatrices& matrices,           \
                                                   Widths& widths) {                             \
    to_planes<Word>(source, box, tuple, matrices, widths);                                       \
  }                                                                                              \
  THINWIRE_VECTOR_CLONES void restore_values_##suffix(                                           \
      BrickMatrices& matrices, const ChunkBox& box, int tuple, std::byte* out) {                 \
    from_planes<Word>(matrices, box, tuple, out);                                                \
  }                                                                                              \
  template <>                                                                                    \
  void make_planes<Word>(const std::byte* source, const ChunkBox& box, int tuple,                \
                         BrickMatrices& matrices, Widths& widths) {                              \
    make_planes_##suffix(source, box, tuple, matrices, widths);                                  \
  }                                                                                              \
  template <>                                                                                    \
  void restore_values<Word>(BrickMatrices & matrices, const ChunkBox& box, int tuple,            \
                            std::byte* out) {                                                    \
    restore_values_##suffix(matrices, box, tuple, out);                                          \
  }

THINWIRE_LORENZO_BRICKS(std::uint16_t, 16)
THINWIRE_LORENZO_BRICKS(std::uint32_t, 32)
THINWIRE_LORENZO_BRICKS(std::uint64_t, 64)

}  // namespace thinwire::codec::lorenzo
