// From values to residuals: each thread has a brick, the values before it come from its neighbours.
#pragma once

#include "codec/lorenzo/load.cuh"

namespace thinwire::codec::lorenzo {

template <typename T>
__device__ T shuffle_up(T value, unsigned distance) {
  return __shfl_up_sync(kAllLanes, value, distance);
}

// ---- Along x ----

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

// Clears the residuals outside the box. Inside a piece they are 0 already, as differences of zeros.
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
