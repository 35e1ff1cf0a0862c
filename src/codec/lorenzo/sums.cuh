// From residuals to values: sums along each axis, in shared memory as far as threads need others'.
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

// ---- Along x ----

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
    // Of the values at places 0, 1, ... of the tuple, the last of the stretch.
    own[at] = 0;
#pragma unroll
    for (int back = 1; back <= kTuple; ++back) {
      if ((phase + kCount - back) % kTuple == at) own[at] = value_at<Word>(row, kCount - back);
    }
    sums[at] = own[at];
#pragma unroll
    for (unsigned offset = 1; offset < 32; offset *= 2) {
      const Word left = __shfl_up_sync(kAllLanes, sums[at], offset);
      if (place.lane >= offset) sums[at] += left;
    }
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

// A line of a whole box: 32 rows of 128 bytes in each warp's part, one behind the other.
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

// ---- Along y and z ----

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

// ---- To the array ----

// Where the pieces of a thread lie once all is summed up: of a line every 32nd, of two dimensions
// those of its brick, of three a column along z.
template <int kDimension>
struct LastPlace {
  __device__ static unsigned x(const BrickPlace<kDimension>& place, int piece) {
    return kDimension == 1 ? place.warp * 32 * kBrickPieces + piece * 32 + place.lane : place.x;
  }
  __device__ static unsigned y(const BrickPlace<kDimension>& place, int piece) {
    if constexpr (kDimension == 2) return place.piece_y(piece);
    return kDimension == 3 ? threadIdx.x / kRowPieces : 0;
  }
  __device__ static unsigned z(const BrickPlace<kDimension>&, int piece) {
    return kDimension == 3 ? piece : 0;
  }
};

template <typename Word>
__device__ void values_of(const Piece16<Word>& sums, Piece16<Word>& values) {
#pragma unroll
  for (int at = 0; at < kElements<Word>; ++at) values[at] = Element<Word>::to_high(sums[at]);
}

template <typename Word, int kDimension, typename Sink>
__device__ void put_whole(const ThreadBox<std::byte>& box, const BrickPlace<kDimension>& place,
                          const Brick<Word>& brick, const Sink& sink) {
  using Last = LastPlace<kDimension>;
  std::byte* at = box.at + Last::z(place, 0) * box.plane + Last::y(place, 0) * box.row +
                  Last::x(place, 0) * kPieceBytes;
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    Piece16<Word> values;
    values_of<Word>(brick.piece[piece], values);
    sink.put_aligned(at, packed<Word>(values));
    at += kDimension == 1 ? 32 * kPieceBytes : kDimension == 2 ? box.row : box.plane;
  }
}

template <typename Word, int kDimension, typename Sink>
__device__ void put_clipped(const ThreadBox<std::byte>& box, const BrickPlace<kDimension>& place,
                            const Brick<Word>& brick, const Sink& sink) {
  using Last = LastPlace<kDimension>;
  const bool in_pieces = box.in_pieces(sizeof(Word));
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    const unsigned x = Last::x(place, piece), y = Last::y(place, piece), z = Last::z(place, piece);
    if (x * kPieceValues<Word> >= box.x || y >= box.y || z >= box.z) continue;
    std::byte* const at = box.at + z * box.plane + y * box.row + x * kPieceBytes;
    Piece16<Word> values;
    values_of<Word>(brick.piece[piece], values);
    if (in_pieces) {
      sink.put_aligned(at, packed<Word>(values));
      continue;
    }
#pragma unroll
    for (int value = 0; value < kPieceValues<Word>; ++value) {
      if (x * kPieceValues<Word> + value >= box.x) break;
      sink.put(at + value * sizeof(Word), value_at<Word>(values, value));
    }
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
