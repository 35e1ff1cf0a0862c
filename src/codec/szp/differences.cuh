// Lattice indices of a thread's tiles and their differences, in its registers;
// spec/codec-szp.md, "Encoding".
#pragma once

#include "codec/integers.h"
#include "codec/szp/tile.cuh"

namespace thinwire::codec::szp {

struct Tiles {
  std::uint32_t row[kOwnRows][kRowValues];
};

// The bits of indices that are patterns of floats near the rounder, and of none.
template <typename Value>
inline constexpr auto kNoIndex = static_cast<std::uint32_t>(ValueTraits<Value>::kRounderBits);

// Values that need a second look: bit 4 j + k is value k of row j.
struct Unbounded {
  std::uint32_t stored;   // which must be stored
  std::uint32_t outside;  // of them, those too far out to have an index
  bool has_integers;      // one of fp64 reads as an integer
};

// Rare; the values are read again, at addresses that are found again, so that neither needs
// registers until here.
template <typename Value, int kRank>
__device__ inline Unbounded find_unbounded(Values<Value, const std::byte> values,
                                           const Lattice<Value>& lattice, const Who& who) {
  asm volatile("" : "+l"(values.at), "+l"(values.row_bytes), "+l"(values.plane_bytes)::"memory");
  Unbounded found{};
#pragma unroll 1
  for (int j = 0; j < kOwnRows; ++j) {
    Value loaded[kRowValues];
    load_row(values.place(own_row<kRank>(who, j)), loaded);
#pragma unroll
    for (int k = 0; k < kRowValues; ++k) {
      const std::uint32_t bit = 1u << (kRowValues * j + k);
      const Value place = loaded[k] * lattice.inverse;
      if (!quantise(loaded[k], lattice).is_bounded) found.stored |= bit;
      if (!(fabs(place) < ValueTraits<Value>::kLimit)) found.outside |= bit;
      if (sizeof(Value) == 8) found.has_integers |= reads_as_integer(to_bits(loaded[k]));
    }
  }
  return found;
}

// Whether a value reads as an integer; for tiles with small ones or with zeros, which many fields
// have and which look the same at first sight. The values are read again, as above.
template <int kRank>
__device__ inline bool has_integers(Values<double, const std::byte> values, const Who& who) {
  asm volatile("" : "+l"(values.at), "+l"(values.row_bytes), "+l"(values.plane_bytes)::"memory");
  bool found = false;
#pragma unroll 2
  for (int j = 0; j < kOwnRows; ++j) {
    double loaded[kRowValues];
    load_row(values.place(own_row<kRank>(who, j)), loaded);
#pragma unroll
    for (int k = 0; k < kRowValues; ++k) found |= reads_as_integer(to_bits(loaded[k]));
  }
  return found;
}

// Fills `tiles` with indices + kNoIndex, and those of values that have none with anything; false
// where there may be such values, or some that must be stored for what decoding makes of them.
// Those at most `safe` on the lattice, which is below its limit, need no other look; NaN does, as
// which negative integers read. `least_high` becomes the least high half of a value of fp64: that
// of 0, or of a positive integer, is below 2^8, and no other.
template <typename Value, int kRank>
__device__ inline bool quantise_safe(const Values<Value, const std::byte>& values,
                                     const Lattice<Value>& lattice, const Who& who, Tiles& tiles,
                                     std::uint32_t& least_high) {
  bool all_safe = true;
  least_high = UINT32_MAX;
#pragma unroll
  for (int j = 0; j < kOwnRows; ++j) {
    Value loaded[kRowValues];
    load_row(values.place(own_row<kRank>(who, j)), loaded);
#pragma unroll
    for (int k = 0; k < kRowValues; ++k) {
      const Value place = loaded[k] * lattice.inverse;
      tiles.row[j][k] = static_cast<std::uint32_t>(to_bits(place + ValueTraits<Value>::kRounder));
      all_safe &= fabs(place) <= lattice.safe;
      if constexpr (sizeof(Value) == 8) {
        least_high = min(least_high, static_cast<std::uint32_t>(to_bits(loaded[k]) >> 32));
      }
    }
  }
  return all_safe;
}

// Fills `tiles` with indices + kNoIndex; bit 4 j + k of the result is set if value k of row j must
// be stored, and `met_integers` if one of fp64 reads as an integer.
template <typename Value, int kRank>
__device__ inline std::uint32_t quantise_tiles(const Values<Value, const std::byte>& values,
                                               const Lattice<Value>& lattice, const Who& who,
                                               Tiles& tiles, bool& met_integers) {
  std::uint32_t least_high;
  if (quantise_safe<Value, kRank>(values, lattice, who, tiles, least_high)) {
    if constexpr (sizeof(Value) == 8) {
      if (least_high < kIntegerEnd<std::uint64_t> >> 32) {
        met_integers |= has_integers<kRank>(values, who);
      }
    }
    return 0;
  }
  const Unbounded found = find_unbounded<Value, kRank>(values, lattice, who);
  met_integers |= found.has_integers;
#pragma unroll
  for (int at = 0; at < kOwnRows * kRowValues; ++at) {
    std::uint32_t& index = tiles.row[at / kRowValues][at % kRowValues];
    if ((found.outside >> at & 1) != 0) index = kNoIndex<Value>;
  }
  return found.stored;
}

// The indices alone, if it is known what must be stored.
template <typename Value, int kRank>
__device__ inline void quantise_again(const Values<Value, const std::byte>& values,
                                      const Lattice<Value>& lattice, const Who& who, Tiles& tiles) {
#pragma unroll
  for (int j = 0; j < kOwnRows; ++j) {
    Value loaded[kRowValues];
    load_row(values.place(own_row<kRank>(who, j)), loaded);
#pragma unroll
    for (int k = 0; k < kRowValues; ++k) {
      tiles.row[j][k] = quantise(loaded[k], lattice).index;
    }
  }
}

// ---- Neighbours ----

__device__ inline void subtract_row(std::uint32_t (&row)[kRowValues],
                                    const std::uint32_t (&before)[kRowValues]) {
#pragma unroll
  for (int k = 0; k < kRowValues; ++k) row[k] -= before[k];
}

// Rows less what is to the left of them, in the tile and in the lane before.
__device__ inline void subtract_left(Tiles& tiles, bool has_left) {
#pragma unroll
  for (int j = 0; j < kOwnRows; ++j) {
    const std::uint32_t left = __shfl_up_sync(kAllLanes, tiles.row[j][3], 1);
#pragma unroll
    for (int k = kRowValues - 1; k > 0; --k) tiles.row[j][k] -= tiles.row[j][k - 1];
    if (has_left) tiles.row[j][0] -= left;
  }
}

__device__ inline void store_quad(uint4* to, const std::uint32_t (&quad)[kRowValues]) {
  *to = {quad[0], quad[1], quad[2], quad[3]};
}

__device__ inline void load_quad(const uint4* from, std::uint32_t (&quad)[kRowValues]) {
  const uint4 words = *from;
  quad[0] = words.x, quad[1] = words.y, quad[2] = words.z, quad[3] = words.w;
}

// Indices + kNone to their differences along all axes. `scratch` is shared memory of kBoxValues
// words that no one uses; has a barrier.
template <int kRank, std::uint32_t kNone>
__device__ inline void take_differences(Tiles& tiles, std::uint32_t* scratch, const Who& who) {
  auto* const quads = reinterpret_cast<uint4*>(scratch);
  if constexpr (kRank == 1) {
    // The last value of every tile, one after the other.
    scratch[who.tile(0)] = tiles.row[3][3];
    scratch[who.tile(1)] = tiles.row[7][3];
    __syncthreads();
#pragma unroll
    for (int j = kOwnRows - 1; j >= 0; --j) {
      std::uint32_t left = kNone;
      if (j % kTileRows > 0) {
        left = tiles.row[j - 1][3];
      } else if (const unsigned tile = who.tile(j / kTileRows); tile > 0) {
        left = scratch[tile - 1];
      }
#pragma unroll
      for (int k = kRowValues - 1; k > 0; --k) tiles.row[j][k] -= tiles.row[j][k - 1];
      tiles.row[j][0] -= left;
    }
  } else if constexpr (kRank == 2) {
    store_quad(quads + threadIdx.x, tiles.row[kOwnRows - 1]);
    __syncthreads();
    std::uint32_t above[kRowValues] = {kNone, kNone, kNone, kNone};
    if (who.group > 0) load_quad(quads + threadIdx.x - kHalfGroup, above);
#pragma unroll
    for (int j = kOwnRows - 1; j > 0; --j) subtract_row(tiles.row[j], tiles.row[j - 1]);
    subtract_row(tiles.row[0], above);
    subtract_left(tiles, who.member > 0);
  } else {
    // The plane of the second tile: first the top row of all tiles, then the next.
#pragma unroll
    for (int j = 0; j < kTileRows; ++j) {
      store_quad(quads + j * kThreads + threadIdx.x, tiles.row[kTileRows + j]);
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kTileRows; ++j) {
      subtract_row(tiles.row[kTileRows + j], tiles.row[j]);
      std::uint32_t below[kRowValues] = {kNone, kNone, kNone, kNone};
      if (who.group > 0) load_quad(quads + j * kThreads + threadIdx.x - kHalfGroup, below);
      subtract_row(tiles.row[j], below);
    }
#pragma unroll
    for (int number = 0; number < kOwnTiles; ++number) {
      std::uint32_t(&last)[kRowValues] = tiles.row[number * kTileRows + 3];
      std::uint32_t above[kRowValues];
#pragma unroll
      for (int k = 0; k < kRowValues; ++k) {
        above[k] = __shfl_up_sync(kAllLanes, last[k], 4);
        if (who.member < 4) above[k] = 0;
      }
#pragma unroll
      for (int j = kTileRows - 1; j > 0; --j) {
        subtract_row(tiles.row[number * kTileRows + j], tiles.row[number * kTileRows + j - 1]);
      }
      subtract_row(tiles.row[number * kTileRows], above);
    }
    subtract_left(tiles, who.member % 4 > 0);
  }
}

// Clears residuals outside a clipped box.
template <int kRank>
__device__ inline void clear_outside(const Box& box, const Who& who, Tiles& tiles) {
#pragma unroll
  for (int j = 0; j < kOwnRows; ++j) {
    const auto count = count_of(box, own_row<kRank>(who, j));
#pragma unroll
    for (std::uint32_t k = 0; k < kRowValues; ++k) {
      if (k >= count) tiles.row[j][k] = 0;
    }
  }
}

}  // namespace thinwire::codec::szp
