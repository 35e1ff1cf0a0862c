// Sums along x, by a lane a row or a stretch of a line, and the box in shared memory that they are
// made in.
#pragma once

#include "codec/lorenzo/element.cuh"
#include "codec/lorenzo/place.cuh"

namespace thinwire::codec::lorenzo {

// Shared memory of one thread block: a box, each warp's 32 rows of it for itself, and what warps
// tell each other.
struct SumShared {
  uint4* box;
  uint4* warps;  // 4 x kRowPieces

  __device__ uint4* rows(unsigned warp) const { return box + warp * 32 * kRowPieces; }
};

// ---- Rows ----

// The values of a row, or of a thread's stretch of a line, one by one.
template <typename Word, int kCount>
__device__ Word value_at(const typename Element<Word>::Type (&row)[kCount], int number) {
  if constexpr (sizeof(Word) == 2) {
    return static_cast<Word>(row[number / 2] >> (number % 2 * 16));
  } else {
    return row[number];
  }
}

// A row of 128 bytes.
template <typename Word>
inline constexpr int kRowElements = kRowPieces * kElements<Word>;
template <typename Word>
using Row = typename Element<Word>::Type[kRowElements<Word>];

// Adds to each value the one kTuple before it.
template <typename Word, int kTuple>
__device__ void sum_row(Row<Word>& row) {
  if constexpr (sizeof(Word) == 2) {
    std::uint32_t sums[kTuple] = {};
#pragma unroll
    for (int at = 0; at < kRowElements<Word>; ++at) {
      std::uint32_t& low = sums[2 * at % kTuple];
      low += row[at] & 0xffffu;
      const std::uint32_t first = low;
      std::uint32_t& high = sums[(2 * at + 1) % kTuple];
      high += row[at] >> 16;
      row[at] = __byte_perm(first, high, 0x5410);
    }
  } else {
#pragma unroll
    for (int at = kTuple; at < kRowElements<Word>; ++at) row[at] += row[at - kTuple];
  }
}

template <typename Word>
__device__ void sum_row(Row<Word>& row, unsigned tuple) {
  if (tuple == 1) {
    sum_row<Word, 1>(row);
  } else if (tuple == 2) {
    sum_row<Word, 2>(row);
  } else {
    sum_row<Word, 3>(row);
  }
}

template <typename Word>
__device__ void load_row(const uint4* rows, unsigned number, Row<Word>& row) {
#pragma unroll
  for (int piece = 0; piece < kRowPieces; ++piece) {
    Piece16<Word> values;
    unpack<Word>(rows[slot(number, piece)], values);
#pragma unroll
    for (int at = 0; at < kElements<Word>; ++at) row[piece * kElements<Word> + at] = values[at];
  }
}

template <typename Word>
__device__ void store_row(const Row<Word>& row, unsigned number, uint4* rows) {
#pragma unroll
  for (int piece = 0; piece < kRowPieces; ++piece) {
    Piece16<Word> values;
#pragma unroll
    for (int at = 0; at < kElements<Word>; ++at) values[at] = row[piece * kElements<Word> + at];
    rows[slot(number, piece)] = packed<Word>(values);
  }
}

// The bricks of a warp to rows in its part of the box, each row summed up by one lane.
template <typename Word, int kDimension>
__device__ void sum_along_x(const BrickPlace<kDimension>& place, const Brick<Word>& brick,
                            unsigned tuple, uint4* rows) {
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    const unsigned row = kDimension == 3 ? piece_plane(piece) * kBox3Rows + place.piece_y(piece)
                                         : place.piece_y(piece) % 32;
    rows[slot(row, place.x)] = packed<Word>(brick.piece[piece]);
  }
  __syncwarp();
  Row<Word> row;
  load_row<Word>(rows, place.lane, row);
  sum_row<Word>(row, tuple);
  store_row<Word>(row, place.lane, rows);
  __syncwarp();
}

// ---- Lines ----

// The end of a stretch of `kCount` values, by the places of the tuple that they have in the whole
// line, is what the next stretch begins with.
template <typename Word, int kTuple>
__device__ void add_stretches(const BrickPlace<1>& place, Row<Word>& row, Word* warps) {
  constexpr int kCount = kRowElements<Word> * Element<Word>::kValues;
  // The place of the stretch's first value.
  const unsigned phase = place.x * kCount % kTuple;
  Word own[kTuple], sums[kTuple];
#pragma unroll
  for (int at = 0; at < kTuple; ++at) {
    // The last value of the stretch at each position (0, 1, ...) of the tuple.
    own[at] = 0;
#pragma unroll
    for (int back = 1; back <= kTuple; ++back) {
      if ((phase + kCount - back) % kTuple == at) own[at] = value_at<Word>(row, kCount - back);
    }
    sums[at] = cuda::sum_up_to_lane(own[at]);
    if (place.lane == 31) warps[place.warp * kMaxTuple + at] = sums[at];
    sums[at] -= own[at];
  }
  __syncthreads();
#pragma unroll
  for (int at = 0; at < kTuple; ++at) {
    for (unsigned warp = 0; warp < place.warp; ++warp) sums[at] += warps[warp * kMaxTuple + at];
  }
  Word carry[kTuple];
#pragma unroll
  for (int at = 0; at < kTuple; ++at) {
    carry[at] = sums[at];
#pragma unroll
    for (int turn = 1; turn < kTuple; ++turn) {
      if (phase == turn) carry[at] = sums[(at + turn) % kTuple];
    }
  }
#pragma unroll
  for (int at = 0; at < kRowElements<Word>; ++at) {
    if constexpr (sizeof(Word) == 2) {
      const std::uint32_t both =
          carry[2 * at % kTuple] | std::uint32_t{carry[(2 * at + 1) % kTuple]} << 16;
      row[at] = Element<Word>::add(row[at], both);
    } else {
      row[at] += carry[at % kTuple];
    }
  }
}

// Sums up a line of a whole box: 32 rows of 128 bytes in each warp's part, one after the other.
template <typename Word>
__device__ void sum_line(const BrickPlace<1>& place, const Brick<Word>& brick, unsigned tuple,
                         const SumShared& shared) {
  Row<Word> row;
#pragma unroll
  for (int at = 0; at < kRowElements<Word>; ++at) {
    row[at] = brick.piece[at / kElements<Word>][at % kElements<Word>];
  }
  sum_row<Word>(row, tuple);
  auto* const warps = reinterpret_cast<Word*>(shared.warps);
  if (tuple == 1) {
    add_stretches<Word, 1>(place, row, warps);
  } else if (tuple == 2) {
    add_stretches<Word, 2>(place, row, warps);
  } else {
    add_stretches<Word, 3>(place, row, warps);
  }
  store_row<Word>(row, place.lane, shared.rows(place.warp));
  __syncwarp();
}

}  // namespace thinwire::codec::lorenzo
