// From values to residuals: each thread has a brick, the values before it come from its neighbours.
#pragma once

#include "codec/lorenzo/element.cuh"
#include "codec/lorenzo/place.cuh"

namespace thinwire::codec::lorenzo {

template <typename T>
__device__ T shuffle_up(T value, unsigned distance) {
  return __shfl_up_sync(kAllLanes, value, distance);
}

// ---- Differences along x ----

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

// Of a box in_pieces(); zeros where it ends.
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

template <typename Word>
__device__ void difference_piece(Piece16<Word>& piece, typename Element<Word>::Type before) {
  using E = Element<Word>;
#pragma unroll
  for (int at = kElements<Word> - 1; at >= 0; --at) {
    piece[at] = E::subtract(piece[at], E::shifted(at > 0 ? piece[at - 1] : before, piece[at]));
  }
}

template <typename Word, int kDimension>
__device__ void difference_x(const ThreadBox<const std::byte>& box,
                             const BrickPlace<kDimension>& place, Brick<Word>& brick) {
  constexpr int kLast = kElements<Word> - 1;
  using Type = typename Element<Word>::Type;
  Type before[kBrickPieces];
  if constexpr (kDimension == 1) {
#pragma unroll
    for (int piece = 1; piece < kBrickPieces; ++piece)
      before[piece] = brick.piece[piece - 1][kLast];
    before[0] = shuffle_up(brick.piece[kBrickPieces - 1][kLast], 1);
    if (place.lane == 0) {
      before[0] = 0;
      if (place.warp > 0 && place.template has_piece<Word>(box, 0)) {
        const auto* const at = piece_address<Word>(box, place, 0) - sizeof(Type);
        before[0] = Element<Word>::to_low(*reinterpret_cast<const Type*>(at));
      }
    }
  } else {
#pragma unroll
    for (int piece = 0; piece < kBrickPieces; ++piece) {
      before[piece] = shuffle_up(brick.piece[piece][kLast], 1);
      if (place.x == 0) before[piece] = 0;
    }
  }
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    difference_piece<Word>(brick.piece[piece], before[piece]);
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

// ---- Along the other axes ----

template <typename Word>
__device__ void subtract_piece(Piece16<Word>& piece, const Piece16<Word>& before) {
#pragma unroll
  for (int at = 0; at < kElements<Word>; ++at) {
    piece[at] = Element<Word>::subtract(piece[at], before[at]);
  }
}

// Rows of one thread block that is one column of bricks, 8 rows each.
template <typename Word>
__device__ void difference_rows_2d(const BrickPlace<2>& place, uint4* exchange,
                                   Brick<Word>& brick) {
  Piece16<Word> before;
#pragma unroll
  for (int at = 0; at < kElements<Word>; ++at) {
    before[at] = shuffle_up(brick.piece[kBrickPieces - 1][at], kRowPieces);
  }
  // The last row of a warp goes to the next one.
  if (place.lane >= 32 - kRowPieces) {
    exchange[place.warp * kRowPieces + place.x] = packed<Word>(brick.piece[kBrickPieces - 1]);
  }
  __syncthreads();
  if (place.lane < kRowPieces) {
    const uint4 none{0, 0, 0, 0};
    unpack<Word>(place.warp > 0 ? exchange[(place.warp - 1) * kRowPieces + place.x] : none, before);
  }
#pragma unroll
  for (int piece = kBrickPieces - 1; piece > 0; --piece) {
    subtract_piece<Word>(brick.piece[piece], brick.piece[piece - 1]);
  }
  subtract_piece<Word>(brick.piece[0], before);
}

// The piece of a brick of three dimensions at a row and plane.
__device__ constexpr int piece_at(int plane, int row) { return row / 2 * 4 + plane * 2 + row % 2; }

template <typename Word>
__device__ void difference_rows_3d(const BrickPlace<3>& place, Brick<Word>& brick) {
#pragma unroll
  for (int plane = 0; plane < 2; ++plane) {
    Piece16<Word> before;
#pragma unroll
    for (int at = 0; at < kElements<Word>; ++at) {
      before[at] = shuffle_up(brick.piece[piece_at(plane, 3)][at], kRowPieces);
      if (place.y == 0) before[at] = 0;
    }
#pragma unroll
    for (int row = 3; row > 0; --row) {
      subtract_piece<Word>(brick.piece[piece_at(plane, row)],
                           brick.piece[piece_at(plane, row - 1)]);
    }
    subtract_piece<Word>(brick.piece[piece_at(plane, 0)], before);
  }
}

// A warp has two planes, the one before is the last of the previous warp.
template <typename Word>
__device__ void difference_planes(const BrickPlace<3>& place, uint4* exchange, Brick<Word>& brick) {
#pragma unroll
  for (int row = 0; row < 4; ++row) {
    exchange[(place.warp * 4 + row) * 32 + place.lane] =
        packed<Word>(brick.piece[piece_at(1, row)]);
  }
  __syncthreads();
#pragma unroll
  for (int row = 0; row < 4; ++row) {
    subtract_piece<Word>(brick.piece[piece_at(1, row)], brick.piece[piece_at(0, row)]);
    if (place.warp == 0) continue;
    Piece16<Word> before;
    unpack<Word>(exchange[((place.warp - 1) * 4 + row) * 32 + place.lane], before);
    subtract_piece<Word>(brick.piece[piece_at(0, row)], before);
  }
}

// What lies outside has no residuals. Inside a piece it has none already: differences of zeros.
template <typename Word, int kDimension>
__device__ void clear_outside(const ThreadBox<const std::byte>& box,
                              const BrickPlace<kDimension>& place, Brick<Word>& brick) {
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    const bool is_there = place.template has_piece<Word>(box, piece);
#pragma unroll
    for (auto& element : brick.piece[piece]) element = is_there ? element : 0;
  }
}

// The residuals of the thread's brick, fold_high()ed. `exchange` is shared memory of 8 KiB, for
// lines of kBoxBytes; a barrier must come before another warp uses it for something else.
template <typename Word, int kDimension>
__device__ void take_residuals(const ThreadBox<const std::byte>& box,
                               const BrickPlace<kDimension>& place, unsigned tuple, uint4* exchange,
                               Brick<Word>& brick) {
  const bool whole = box.is_whole(sizeof(Word));
  if (tuple == 1 && box.in_pieces(sizeof(Word))) {
    if (whole) {
      load_whole<Word>(box, place, exchange, brick);
    } else {
      load_pieces<Word>(box, place, brick);
    }
    signs_to_low<Word>(brick);
    difference_x<Word>(box, place, brick);
  } else {
    load_differences<Word>(box, place, tuple, brick);
  }
  if constexpr (kDimension == 2) difference_rows_2d<Word>(place, exchange, brick);
  if constexpr (kDimension == 3) {
    difference_rows_3d<Word>(place, brick);
    difference_planes<Word>(place, exchange, brick);
  }
  if (!whole) clear_outside<Word>(box, place, brick);
#pragma unroll
  for (auto& piece : brick.piece) {
#pragma unroll
    for (auto& element : piece) element = Element<Word>::fold_high(element);
  }
}

}  // namespace thinwire::codec::lorenzo
