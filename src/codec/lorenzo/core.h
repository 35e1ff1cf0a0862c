// Definitions of lorenzo's bytes: boxes, bricks, and the arithmetic on bit patterns. Host and
// device code; no containers, no allocation. See spec/codec-lorenzo.md.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/word.h"

namespace thinwire::codec::lorenzo {

inline constexpr int kMaxTuple = 3;
inline constexpr int kPieceBytes = 16;
inline constexpr int kBrickPieces = 8;
inline constexpr int kBrickWords = 32;  // of 32 bits
inline constexpr int kBoxBricks = 128;
inline constexpr int kBoxBytes = kBoxBricks * kBrickPieces * kPieceBytes;
inline constexpr int kRowPieces = 8;  // of a box of dimension 2 or 3
inline constexpr int kBox2Rows = 128;
inline constexpr int kBox3Rows = 16;
inline constexpr int kBox3Planes = 8;
inline constexpr int kWidthBits = 6;

template <typename Word>
inline constexpr int kPieceValues = kPieceBytes / static_cast<int>(sizeof(Word));

// Planes that a half of a brick can have.
template <typename Word>
inline constexpr int kMostPlanes = sizeof(Word) == 2 ? 16 : 32;

// ---- Where things lie ----

// Bricks of a clipped box along each axis; those that its dimension lacks are 1.
struct BrickGrid {
  std::uint32_t x, y, z;

  THINWIRE_HOST_DEVICE std::uint32_t count() const { return x * y * z; }
};

// Rows and planes that a brick spans, by the dimension of its chunk.
THINWIRE_HOST_DEVICE constexpr std::uint32_t brick_rows(int dimension) {
  return dimension == 1 ? 1 : dimension == 2 ? 8 : 4;
}
THINWIRE_HOST_DEVICE constexpr std::uint32_t brick_planes(int dimension) {
  return dimension == 3 ? 2 : 1;
}
THINWIRE_HOST_DEVICE constexpr std::uint32_t brick_row_pieces(int dimension) {
  return dimension == 1 ? kBrickPieces : 1;
}

// Row and plane, inside a brick of three dimensions, of piece `piece`.
THINWIRE_HOST_DEVICE constexpr int piece_row(int piece) { return piece / 4 * 2 + piece % 2; }
THINWIRE_HOST_DEVICE constexpr int piece_plane(int piece) { return piece / 2 % 2; }

template <typename Word>
THINWIRE_HOST_DEVICE constexpr BrickGrid brick_grid(int dimension, std::uint32_t x, std::uint32_t y,
                                                    std::uint32_t z) {
  const auto along = [](std::uint32_t extent, std::uint32_t brick) {
    return (extent + brick - 1) / brick;
  };
  return {along(x, brick_row_pieces(dimension) * kPieceValues<Word>),
          along(y, brick_rows(dimension)), along(z, brick_planes(dimension))};
}

// Bytes of the widths of so many bricks.
THINWIRE_HOST_DEVICE constexpr std::uint32_t width_bytes(std::uint32_t bricks) {
  return (bricks * 2 * kWidthBits + 31) / 32 * 4;
}

// ---- Arithmetic on values ----

// Residuals near 0, of either sign, to small numbers; and back.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word fold(Word residual) {
  const Word negative = static_cast<Word>(0 - (residual >> (kWordBits<Word> - 1)));
  return static_cast<Word>(static_cast<Word>(residual << 1) ^ negative);
}

template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word unfold(Word folded) {
  return static_cast<Word>(static_cast<Word>(folded >> 1) ^ static_cast<Word>(0 - (folded & 1)));
}

// The row of a brick's 32 x 32 bit matrix in which word `word` of piece `piece` stands. Transposed,
// row p of the matrix is plane p of A in its low half and of B in its high half for values of 32
// and 64 bits; for those of 16 bits, plane p of A, or from row 16 on of B.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr int matrix_row(int piece, int word) {
  return sizeof(Word) == 8 ? word % 2 * 16 + 2 * piece + word / 2 : 4 * piece + word;
}

}  // namespace thinwire::codec::lorenzo
