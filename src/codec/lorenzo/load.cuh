// Values from the array to the bricks of a thread block's registers.
#pragma once

#include "codec/lorenzo/element.cuh"
#include "codec/lorenzo/place.cuh"

namespace thinwire::codec::lorenzo {

template <typename Word, int kDimension>
__device__ const std::byte* piece_address(const ThreadBox<const std::byte>& box,
                                          const BrickPlace<kDimension>& place, int piece) {
  return box.at + place.piece_z(piece) * box.plane + place.piece_y(piece) * box.row +
         place.piece_x(piece) * kPieceBytes;
}

// A whole line: a warp's part comes in the order of its lanes and is handed round in shared memory.
template <typename Word>
__device__ void load_whole(const ThreadBox<const std::byte>& box, const BrickPlace<1>& place,
                           uint4* exchange, Brick<Word>& brick) {
  const auto* const from = reinterpret_cast<const uint4*>(box.at) + place.warp * 32 * kBrickPieces;
  uint4* const rows = exchange + place.warp * 32 * kRowPieces;
  uint4 bits[kBrickPieces];
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) bits[piece] = from[piece * 32 + place.lane];
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    rows[slot(piece * 4 + place.lane / kRowPieces, place.lane % kRowPieces)] = bits[piece];
  }
  __syncwarp();
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    unpack<Word>(rows[slot(place.lane, piece)], brick.piece[piece]);
  }
}

template <typename Word, int kDimension>
__device__ void load_whole(const ThreadBox<const std::byte>& box,
                           const BrickPlace<kDimension>& place, uint4*, Brick<Word>& brick) {
  const std::byte* const first = piece_address<Word>(box, place, 0);
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    const std::byte* const at =
        kDimension == 2 ? first + piece * box.row
                        : first + piece_plane(piece) * box.plane + piece_row(piece) * box.row;
    unpack<Word>(*reinterpret_cast<const uint4*>(at), brick.piece[piece]);
  }
}

// Loads the thread's pieces of a box for which in_pieces() is true; zeros outside the box.
template <typename Word, int kDimension>
__device__ void load_pieces(const ThreadBox<const std::byte>& box,
                            const BrickPlace<kDimension>& place, Brick<Word>& brick) {
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    uint4 bits{0, 0, 0, 0};
    if (place.template has_piece<Word>(box, piece)) {
      bits = *reinterpret_cast<const uint4*>(piece_address<Word>(box, place, piece));
    }
    unpack<Word>(bits, brick.piece[piece]);
  }
}

template <typename Word>
__device__ void signs_to_low(Brick<Word>& brick) {
#pragma unroll
  for (auto& piece : brick.piece) {
#pragma unroll
    for (auto& element : piece) element = Element<Word>::to_low(element);
  }
}

// The differences along x of any box at any alignment, value by value; 0 outside.
template <typename Word, int kDimension>
__device__ void load_differences(const ThreadBox<const std::byte>& box,
                                 const BrickPlace<kDimension>& place, unsigned tuple,
                                 Brick<Word>& brick) {
  constexpr int kValues = kPieceValues<Word>;
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    const std::byte* const at = piece_address<Word>(box, place, piece);
    const bool is_there = place.piece_y(piece) < box.y && place.piece_z(piece) < box.z;
    Word values[kValues];
#pragma unroll
    for (int value = 0; value < kValues; ++value) {
      const unsigned x = place.piece_x(piece) * kValues + value;
      values[value] = 0;
      if (!is_there || x >= box.x) continue;
      values[value] = sign_to_low(cuda::load_value<Word>(at + value * sizeof(Word)));
      if (x < tuple) continue;
      const std::byte* const before = at + value * sizeof(Word) - tuple * sizeof(Word);
      values[value] -= sign_to_low(cuda::load_value<Word>(before));
    }
#pragma unroll
    for (int element = 0; element < kElements<Word>; ++element) {
      if constexpr (sizeof(Word) == 2) {
        brick.piece[piece][element] = values[2 * element] | unsigned{values[2 * element + 1]} << 16;
      } else {
        brick.piece[piece][element] = values[element];
      }
    }
  }
}

}  // namespace thinwire::codec::lorenzo
