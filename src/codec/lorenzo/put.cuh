// Values from a thread block's registers to the array.
#pragma once

#include "codec/lorenzo/rows.cuh"

namespace thinwire::codec::lorenzo {

// The position of a thread's pieces after the last sum: every 32nd piece of a line, in two
// dimensions those of its brick, in three a column along z.
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

}  // namespace thinwire::codec::lorenzo
