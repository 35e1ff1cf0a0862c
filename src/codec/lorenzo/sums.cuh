// From residuals to values: sums along each axis, in shared memory as far as threads need others'.
#pragma once

#include "codec/lorenzo/put.cuh"
#include "codec/lorenzo/rows.cuh"

namespace thinwire::codec::lorenzo {

template <typename Word>
__device__ void add_piece(Piece16<Word>& piece, const Piece16<Word>& before) {
#pragma unroll
  for (int at = 0; at < kElements<Word>; ++at) {
    piece[at] = Element<Word>::add(piece[at], before[at]);
  }
}

// Two dimensions: a thread has 8 rows of a column of pieces, whose end goes on to the next 8.
template <typename Word>
__device__ void sum_along_y(const BrickPlace<2>& place, const SumShared& shared,
                            Brick<Word>& brick) {
  using E = Element<Word>;
  const uint4* const rows = shared.rows(place.warp);
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    unpack<Word>(rows[slot(place.piece_y(piece) % 32, place.x)], brick.piece[piece]);
    if (piece > 0) add_piece<Word>(brick.piece[piece], brick.piece[piece - 1]);
  }
  Piece16<Word> sum, before;
#pragma unroll
  for (int at = 0; at < kElements<Word>; ++at) {
    const auto own = brick.piece[kBrickPieces - 1][at];
    sum[at] = own;
#pragma unroll
    for (unsigned offset = kRowPieces; offset < 32; offset *= 2) {
      const auto above = __shfl_up_sync(kAllLanes, sum[at], offset);
      if (place.lane >= offset) sum[at] = E::add(sum[at], above);
    }
    before[at] = E::subtract(sum[at], own);
  }
  if (place.lane >= 32 - kRowPieces) {
    shared.warps[place.warp * kRowPieces + place.x] = packed<Word>(sum);
  }
  __syncthreads();
  for (unsigned warp = 0; warp < place.warp; ++warp) {
    Piece16<Word> above;
    unpack<Word>(shared.warps[warp * kRowPieces + place.x], above);
    add_piece<Word>(before, above);
  }
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) add_piece<Word>(brick.piece[piece], before);
}

// Three dimensions: a lane sums up 8 bytes of the 16 rows of one of its warp's two planes.
template <typename Word>
__device__ void sum_along_y(const BrickPlace<3>& place, uint4* rows) {
  const unsigned plane = place.lane / 16, pair = place.lane % 16;
  std::uint64_t values[kBox3Rows];
  auto* const halves = reinterpret_cast<std::uint64_t*>(rows);
#pragma unroll
  for (int y = 0; y < kBox3Rows; ++y) {
    values[y] = halves[2 * slot(plane * kBox3Rows + y, pair / 2) + pair % 2];
  }
#pragma unroll
  for (int y = 1; y < kBox3Rows; ++y) {
    if constexpr (sizeof(Word) == 8) {
      values[y] += values[y - 1];
    } else {
      using E = Element<Word>;
      const auto low =
          E::add(static_cast<std::uint32_t>(values[y]), static_cast<std::uint32_t>(values[y - 1]));
      const auto high = E::add(static_cast<std::uint32_t>(values[y] >> 32),
                               static_cast<std::uint32_t>(values[y - 1] >> 32));
      values[y] = std::uint64_t{high} << 32 | low;
    }
    halves[2 * slot(plane * kBox3Rows + y, pair / 2) + pair % 2] = values[y];
  }
}

// A thread has the column of pieces along z that begins at row threadIdx.x / 8.
template <typename Word>
__device__ void sum_along_z(const BrickPlace<3>& place, const SumShared& shared,
                            Brick<Word>& brick) {
#pragma unroll
  for (int z = 0; z < kBox3Planes; ++z) {
    const unsigned row = z % 2 * kBox3Rows + threadIdx.x / kRowPieces;
    unpack<Word>(shared.rows(z / 2)[slot(row, place.x)], brick.piece[z]);
    if (z > 0) add_piece<Word>(brick.piece[z], brick.piece[z - 1]);
  }
}

// Sums up a box of residuals, fold_high()ed, of which this thread has `brick`. All threads of the
// block must have left shared.box alone.
template <typename Word, int kDimension, typename Sink>
__device__ void restore_values(const ThreadBox<std::byte>& box, const BrickPlace<kDimension>& place,
                               unsigned tuple, const SumShared& shared, Brick<Word>& brick,
                               const Sink& sink) {
#pragma unroll
  for (auto& piece : brick.piece) {
#pragma unroll
    for (auto& element : piece) element = Element<Word>::fold_high(element);
  }
  uint4* const rows = shared.rows(place.warp);
  if constexpr (kDimension == 1) {
    sum_line<Word>(place, brick, tuple, shared);
#pragma unroll
    for (int piece = 0; piece < kBrickPieces; ++piece) {
      const unsigned number = piece * 32 + place.lane;
      unpack<Word>(rows[slot(number / kRowPieces, number % kRowPieces)], brick.piece[piece]);
    }
  } else {
    sum_along_x<Word>(place, brick, tuple, rows);
    if constexpr (kDimension == 2) {
      sum_along_y<Word>(place, shared, brick);
    } else {
      sum_along_y<Word>(place, rows);
      __syncthreads();
      sum_along_z<Word>(place, shared, brick);
    }
  }
  if (box.is_whole(sizeof(Word)) && box.in_pieces(sizeof(Word))) {
    put_whole<Word>(box, place, brick, sink);
  } else {
    put_clipped<Word>(box, place, brick, sink);
  }
}

}  // namespace thinwire::codec::lorenzo
