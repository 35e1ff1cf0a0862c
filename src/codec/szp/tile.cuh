// The position of a thread's tiles, and how their values are loaded and stored; spec/codec-szp.md,
// "Chunks and tiles".
//
// A thread has two tiles of a group, 16 apart: in a volume they lie in neighbouring planes, in a
// plane one below the other. So sixteen threads have a group.
#pragma once

#include "codec/cuda/piece.cuh"
#include "codec/cuda/warp.cuh"
#include "codec/szp/core.h"
#include "codec/szp/format.h"

namespace thinwire::codec::szp {

using cuda::kAllLanes;

template <Dtype kDtype>
using ValueOf = NumberOf<kDtype>;

inline constexpr int kThreads = 128;
inline constexpr int kOwnTiles = 2;
inline constexpr int kOwnRows = kOwnTiles * kTileRows;
inline constexpr int kHalfGroup = kGroupTiles / kOwnTiles;
inline constexpr int kWarps = kThreads / 32;

// A thread's position among those of its chunk.
struct Who {
  unsigned lane, warp;
  unsigned group, member;  // of the group's sixteen threads

  __device__ Who()
      : lane(threadIdx.x % 32),
        warp(threadIdx.x / 32),
        group(threadIdx.x / kHalfGroup),
        member(threadIdx.x % kHalfGroup) {}

  __device__ unsigned tile(int number) const {
    return group * kGroupTiles + static_cast<unsigned>(number) * kHalfGroup + member;
  }
};

// A row of a tile: the place of its first value in the box.
struct RowPlace {
  std::uint32_t x, y, z;
};

template <int kRank>
__device__ inline RowPlace row_place(std::uint32_t tile, std::uint32_t row) {
  if constexpr (kRank == 1) return {kTileValues * tile + kRowValues * row, 0, 0};
  if constexpr (kRank == 2) return {tile % 16 * 4, tile / 16 * 4 + row, 0};
  return {tile % 4 * 4, tile / 4 % 4 * 4 + row, tile / 16};
}

// Row `number` of the thread's eight.
template <int kRank>
__device__ inline RowPlace own_row(const Who& who, int number) {
  return row_place<kRank>(who.tile(number / kTileRows),
                          static_cast<std::uint32_t>(number % kTileRows));
}

// A chunk's values in memory: in the array, or in shared memory as if the box were not clipped.
template <typename Value, typename Bytes>
struct Values {
  Bytes* at;
  std::uint64_t row_bytes;
  std::uint64_t plane_bytes;

  __device__ explicit Values(const cuda::PieceOf<Bytes>& piece)
      : at(piece.at),
        row_bytes(piece.box.row * sizeof(Value)),
        plane_bytes(piece.box.plane * sizeof(Value)) {}

  __device__ Values(Bytes* staged, int rank)
      : at(staged),
        row_bytes(static_cast<std::uint64_t>(box_edge(rank)) * sizeof(Value)),
        plane_bytes(kVolumeEdge * kVolumeEdge * sizeof(Value)) {}

  __device__ Bytes* place(const RowPlace& row) const {
    return at + row.z * plane_bytes + row.y * row_bytes + row.x * sizeof(Value);
  }
};

// Whether the rows of tiles lie in the array, in full, at multiples of 16 bytes.
template <typename Value, typename Bytes>
__device__ inline bool is_plain(const cuda::PieceOf<Bytes>& piece) {
  std::uint64_t low = reinterpret_cast<std::uintptr_t>(piece.at);
  if (piece.box.y > 1) low |= piece.box.row * sizeof(Value);
  if (piece.box.z > 1) low |= piece.box.plane * sizeof(Value);
  return low % 16 == 0 && piece.values == kBoxValues;
}

// How many values of a row of a tile there are, 0 to 4.
__device__ inline std::uint32_t count_of(const Box& box, const RowPlace& row) {
  if (row.y >= box.y || row.z >= box.z || row.x >= box.x) return 0;
  const std::uint32_t left = box.x - row.x;
  return left < kRowValues ? left : kRowValues;
}

// Rows by 16 bytes at a time.
template <typename Value>
__device__ inline void load_row(const std::byte* from, Value (&out)[kRowValues]) {
  uint4 words[sizeof(Value) / 4];
#pragma unroll
  for (unsigned at = 0; at < sizeof(Value) / 4; ++at) {
    words[at] = reinterpret_cast<const uint4*>(from)[at];
  }
  memcpy(out, words, sizeof words);
}

template <typename Value, typename Put>
__device__ inline void store_row(std::byte* to, const BitsOf<Value> (&bits)[kRowValues],
                                 const Put& put) {
  uint4 words[sizeof(Value) / 4];
  memcpy(words, bits, sizeof words);
#pragma unroll
  for (unsigned at = 0; at < sizeof(Value) / 4; ++at) put(to + 16 * at, words[at]);
}

// A piece as its box would be without clipping, zeros if it has no values. For whole thread
// blocks, without a barrier.
template <typename Value, int kRank>
__device__ inline void stage(const cuda::Piece& piece, std::byte* staged) {
  const Who who;
  const Values<Value, const std::byte> from(piece);
  const Values<Value, std::byte> to(staged, kRank);
#pragma unroll 1
  for (int j = 0; j < kOwnRows; ++j) {
    const RowPlace row = own_row<kRank>(who, j);
    const std::uint32_t count = count_of(piece.box, row);
    const std::byte* const place = from.place(row);
    auto* const out = reinterpret_cast<BitsOf<Value>*>(to.place(row));
#pragma unroll
    for (std::uint32_t k = 0; k < kRowValues; ++k) {
      out[k] = k < count ? cuda::load_value<BitsOf<Value>>(place + k * sizeof(Value)) : 0;
    }
  }
}

// The reverse.
template <typename Value, int kRank, typename Sink>
__device__ inline void unstage(const std::byte* staged, const cuda::Target& target,
                               const Sink& sink) {
  const Who who;
  const Values<Value, const std::byte> from(staged, kRank);
  const Values<Value, std::byte> to(target);
#pragma unroll 1
  for (int j = 0; j < kOwnRows; ++j) {
    const RowPlace row = own_row<kRank>(who, j);
    const std::uint32_t count = count_of(target.box, row);
    std::byte* const place = to.place(row);
    const auto* const in = reinterpret_cast<const BitsOf<Value>*>(from.place(row));
#pragma unroll 1
    for (std::uint32_t k = 0; k < count; ++k) sink.put(place + k * sizeof(Value), in[k]);
  }
}

// ---- Sums over the thread block ----

// Running sums that place a thread's two tiles, which follow in order with these lengths; all
// lengths together are below 2^16. For whole thread blocks: totals in `sums` between the two, a
// barrier.
struct TileSums {
  std::uint32_t lengths;  // the second tile's in the high half
  std::uint32_t up_to;    // sums of the group's first tiles and of its second ones, up to this
                          // thread's

  __device__ TileSums(std::uint32_t first, std::uint32_t second, const Who& who)
      : lengths(first | second << 16), up_to(cuda::sum_up_to_lane<kHalfGroup>(lengths)) {}

  // The length of the group, right in its last thread only.
  __device__ std::uint32_t total() const { return (up_to & 0xFFFF) + (up_to >> 16); }
};

// The sum over the groups before the thread's, and over all.
struct GroupPlace {
  std::uint32_t before, total;
};

__device__ inline GroupPlace place_of_group(std::uint32_t sum, const Who& who) {
  // `sum` of group `lane` in the first lanes, 0 in the others.
  const std::uint32_t up_to = cuda::sum_up_to_lane<kGroups>(sum);
  return {__shfl_sync(kAllLanes, up_to - sum, static_cast<int>(who.group)),
          __shfl_sync(kAllLanes, up_to, kGroups - 1)};
}

// The positions at which the thread's two tiles begin.
struct TilePlaces {
  std::uint32_t first, second;

  __device__ TilePlaces(const TileSums& sums, std::uint32_t before, const Who& who) {
    const std::uint32_t firsts =
        __shfl_sync(kAllLanes, sums.up_to, static_cast<int>(who.lane | (kHalfGroup - 1)));
    const std::uint32_t own = sums.up_to - sums.lengths;
    first = before + (own & 0xFFFF);
    second = before + (firsts & 0xFFFF) + (own >> 16);
  }
};

}  // namespace thinwire::codec::szp
