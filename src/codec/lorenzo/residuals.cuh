// From values to residuals: each thread has a brick, the values before it come from its neighbours.
#pragma once

#include "codec/lorenzo/load.cuh"

namespace thinwire::codec::lorenzo {

template <typename T>
__device__ T shuffle_up(T value, unsigned distance) {
  return __shfl_up_sync(kAllLanes, value, distance);
}

// ---- Along x ----

// How many elements before a run the values kTuple before its own reach.
template <typename Word, int kTuple>
inline constexpr int kReach = (kTuple + Element<Word>::kValues - 1) / Element<Word>::kValues;

// A run of kCount elements after those.
template <typename Word, int kTuple, int kCount>
using LongRun = typename Element<Word>::Type[kReach<Word, kTuple> + kCount];

// Element `at` of the run, each value less the one kTuple before it.
template <typename Word, int kTuple, int kCount>
__device__ auto difference(const typename Element<Word>::Type (&run)[kCount], int at) {
  using E = Element<Word>;
  const auto own = run[kReach<Word, kTuple> + at];
  if constexpr (kTuple % E::kValues == 0) return E::subtract(own, run[at]);
  // Values in pairs: the high half of one element and the low half of the next.
  return E::subtract(own, E::shifted(run[at], run[at + 1]));
}

// A line: the brick is one run, and goes on from the brick of the lane before.
template <typename Word, int kTuple>
__device__ void difference_x(const ThreadBox<const std::byte>& box, const BrickPlace<1>& place,
                             Brick<Word>& brick) {
  using Type = typename Element<Word>::Type;
  constexpr int kCount = kBrickPieces * kElements<Word>;
  constexpr int kBack = kReach<Word, kTuple>;
  LongRun<Word, kTuple, kCount> run;
#pragma unroll
  for (int at = 0; at < kCount; ++at) {
    run[kBack + at] = brick.piece[at / kElements<Word>][at % kElements<Word>];
  }
  const bool reads = place.warp > 0 && place.template has_piece<Word>(box, 0);
  const auto* const here = reinterpret_cast<const Type*>(piece_address<Word>(box, place, 0));
#pragma unroll
  for (int at = 0; at < kBack; ++at) {
    run[at] = shuffle_up(run[kCount + at], 1);
    if (place.lane == 0) run[at] = reads ? Element<Word>::to_low(here[at - kBack]) : 0;
  }
#pragma unroll
  for (int at = 0; at < kCount; ++at) {
    brick.piece[at / kElements<Word>][at % kElements<Word>] = difference<Word, kTuple>(run, at);
  }
}

// Rows: each piece is a run, and goes on from the pieces of the lanes before.
template <typename Word, int kTuple, int kDimension>
__device__ void difference_x(const ThreadBox<const std::byte>&, const BrickPlace<kDimension>& place,
                             Brick<Word>& brick) {
  constexpr int kCount = kElements<Word>;
  constexpr int kBack = kReach<Word, kTuple>;
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    LongRun<Word, kTuple, kCount> run;
#pragma unroll
    for (int at = 0; at < kCount; ++at) run[kBack + at] = brick.piece[piece][at];
#pragma unroll
    for (int at = 0; at < kBack; ++at) {
      const int lanes = (kBack - at + kCount - 1) / kCount;
      run[at] = shuffle_up(brick.piece[piece][lanes * kCount - kBack + at], lanes);
      if (static_cast<int>(place.x) < lanes) run[at] = 0;
    }
#pragma unroll
    for (int at = 0; at < kCount; ++at) {
      brick.piece[piece][at] = difference<Word, kTuple>(run, at);
    }
  }
}

template <typename Word, int kDimension>
__device__ void difference_x(const ThreadBox<const std::byte>& box,
                             const BrickPlace<kDimension>& place, unsigned tuple,
                             Brick<Word>& brick) {
  if (tuple == 1) {
    difference_x<Word, 1>(box, place, brick);
  } else if (tuple == 2) {
    difference_x<Word, 2>(box, place, brick);
  } else {
    difference_x<Word, 3>(box, place, brick);
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
  if (box.in_pieces(sizeof(Word))) {
    if (whole) {
      load_whole<Word>(box, place, exchange, brick);
    } else {
      load_pieces<Word>(box, place, brick);
    }
    signs_to_low<Word>(brick);
    difference_x<Word>(box, place, tuple, brick);
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
