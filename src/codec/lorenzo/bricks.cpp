#include "codec/lorenzo/bricks.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/vector_units.h"
#include "codec/lorenzo/axes.h"

namespace thinwire::codec::lorenzo {
namespace {

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
  // Columns after the last brick are worked on too, so they must have been written.
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
