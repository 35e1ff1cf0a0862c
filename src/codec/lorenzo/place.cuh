// Which part of a box a thread has.
#pragma once

#include "codec/cuda/piece.cuh"
#include "codec/lorenzo/core.h"

namespace thinwire::codec::lorenzo {

// The clipped box of a chunk without the axes that do not count; distances in bytes.
template <typename Bytes>
struct ThreadBox {
  Bytes* at;
  std::uint64_t row, plane;
  std::uint32_t x, y, z;
  int dimension;

  __device__ ThreadBox(const cuda::PieceOf<Bytes>& piece, int value_bytes)
      : at(piece.at),
        row(piece.box.row * value_bytes),
        plane(piece.box.plane * value_bytes),
        x(piece.box.x),
        y(piece.box.y),
        z(piece.box.z),
        dimension(1 + (piece.box.y > 1) + (piece.box.z > 1)) {
    if (y == 1 && z > 1) {
      y = z;
      z = 1;
      row = plane;
    }
  }

  // Whether it has no part of a piece, and all pieces stand at multiples of their size.
  __device__ bool in_pieces(std::uint32_t value_bytes) const {
    const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(at) | x * value_bytes |
                               (dimension > 1 ? row : 0) | (dimension > 2 ? plane : 0);
    return bits % kPieceBytes == 0;
  }

  // Whether nothing is clipped.
  __device__ bool is_whole(std::uint32_t value_bytes) const {
    return x * y * z * value_bytes == kBoxBytes;
  }
};

// The brick of this thread and where it stands.
template <int kDimension>
struct BrickPlace {
  unsigned lane = threadIdx.x % 32;
  unsigned warp = threadIdx.x / 32;
  unsigned x = kDimension == 1 ? threadIdx.x : threadIdx.x % kRowPieces;
  unsigned y = kDimension == 1 ? 0 : kDimension == 2 ? threadIdx.x / kRowPieces : lane / kRowPieces;
  unsigned z = kDimension == 3 ? warp : 0;

  // Row, plane and place along x, in pieces, of one of its pieces.
  __device__ unsigned piece_x(int piece) const {
    return kDimension == 1 ? x * kBrickPieces + piece : x;
  }
  __device__ unsigned piece_y(int piece) const {
    return kDimension == 1   ? 0
           : kDimension == 2 ? y * kBrickPieces + piece
                             : 4 * y + piece_row(piece);
  }
  __device__ unsigned piece_z(int piece) const {
    return kDimension == 3 ? 2 * z + piece_plane(piece) : 0;
  }

  // Whether any of a piece's values lie in the box.
  template <typename Word, typename Bytes>
  __device__ bool has_piece(const ThreadBox<Bytes>& box, int piece) const {
    return piece_x(piece) * kPieceValues<Word> < box.x && piece_y(piece) < box.y &&
           piece_z(piece) < box.z;
  }

  // The brick's number among the bricks of a clipped box; kNone outside.
  static constexpr unsigned kNone = ~0u;
  __device__ unsigned number(const BrickGrid& grid) const {
    return x < grid.x && y < grid.y && z < grid.z ? (z * grid.y + y) * grid.x + x : kNone;
  }
};

// The index of a piece of a row in shared memory: rows of 8 pieces, rotated against each other so
// that threads that read down a column meet different banks.
__device__ inline unsigned slot(unsigned row, unsigned piece) {
  return row * kRowPieces + (piece ^ row % kRowPieces);
}

}  // namespace thinwire::codec::lorenzo
