// Residuals to lattice indices: sums along the axes of a box, by one thread block;
// spec/codec-szp.md, "Decoding".
#pragma once

#include "codec/szp/differences.cuh"

namespace thinwire::codec::szp {

__device__ inline void add_row(std::uint32_t (&row)[kRowValues],
                               const std::uint32_t (&before)[kRowValues]) {
#pragma unroll
  for (int k = 0; k < kRowValues; ++k) row[k] += before[k];
}

// Along x in each row, then among kAcross tiles side by side.
template <int kAcross>
__device__ inline void sum_along_x(Tiles& tiles) {
#pragma unroll
  for (int j = 0; j < kOwnRows; ++j) {
#pragma unroll
    for (int k = 1; k < kRowValues; ++k) tiles.row[j][k] += tiles.row[j][k - 1];
    const std::uint32_t last = tiles.row[j][3];
    const std::uint32_t left = cuda::sum_up_to_lane<kAcross>(last) - last;
#pragma unroll
    for (int k = 0; k < kRowValues; ++k) tiles.row[j][k] += left;
  }
}

// Words of shared memory that it takes.
inline constexpr int kSumWords = (kWarps - 1) * kHalfGroup * kTileRows * kRowValues;

// Makes residuals indices, for whole thread blocks. `scratch` is kSumWords of shared memory that
// nobody uses; it may still be read after this returns.
template <int kRank>
__device__ inline void take_sums(Tiles& tiles, std::uint32_t* scratch, const Who& who) {
  auto* const quads = reinterpret_cast<uint4*>(scratch);
  if constexpr (kRank == 1) {
    std::uint32_t totals[kOwnTiles];
#pragma unroll
    for (int number = 0; number < kOwnTiles; ++number) {
      std::uint32_t sum = 0;
#pragma unroll
      for (int at = 0; at < kTileValues; ++at) {
        std::uint32_t& value = tiles.row[number * kTileRows + at / kRowValues][at % kRowValues];
        value = sum += value;
      }
      totals[number] = sum;
    }
    // The group's first tiles, then its second ones.
    const std::uint32_t first = cuda::sum_up_to_lane<kHalfGroup>(totals[0]);
    const std::uint32_t second = cuda::sum_up_to_lane<kHalfGroup>(totals[1]);
    const std::uint32_t firsts =
        __shfl_sync(kAllLanes, first, static_cast<int>(who.lane | (kHalfGroup - 1)));
    if (who.member == kHalfGroup - 1) scratch[who.group] = firsts + second;
    __syncthreads();
    const std::uint32_t before =
        place_of_group(who.lane < kGroups ? scratch[who.lane] : 0, who).before;
    const std::uint32_t begins[] = {before + first - totals[0],
                                    before + firsts + second - totals[1]};
#pragma unroll
    for (int j = 0; j < kOwnRows; ++j) {
#pragma unroll
      for (int k = 0; k < kRowValues; ++k) tiles.row[j][k] += begins[j / kTileRows];
    }
  } else if constexpr (kRank == 2) {
    sum_along_x<kHalfGroup>(tiles);
#pragma unroll
    for (int j = 1; j < kOwnRows; ++j) add_row(tiles.row[j], tiles.row[j - 1]);
    store_quad(quads + threadIdx.x, tiles.row[kOwnRows - 1]);
    __syncthreads();
    std::uint32_t above[kRowValues] = {};
    for (unsigned group = 0; group < who.group; ++group) {
      std::uint32_t last[kRowValues];
      load_quad(quads + group * kHalfGroup + who.member, last);
      add_row(above, last);
    }
#pragma unroll
    for (int j = 0; j < kOwnRows; ++j) add_row(tiles.row[j], above);
  } else {
    sum_along_x<4>(tiles);
#pragma unroll
    for (int number = 0; number < kOwnTiles; ++number) {
      const int begin = number * kTileRows;
#pragma unroll
      for (int j = 1; j < kTileRows; ++j) add_row(tiles.row[begin + j], tiles.row[begin + j - 1]);
#pragma unroll
      for (int k = 0; k < kRowValues; ++k) {
        const std::uint32_t last = tiles.row[begin + 3][k];
        const std::uint32_t above = cuda::sum_up_to_lane<4, 4>(last) - last;
#pragma unroll
        for (int j = 0; j < kTileRows; ++j) tiles.row[begin + j][k] += above;
      }
    }
    // Sums along z run from the first tile's plane to the second's, from the warp's first group to
    // its second, and from warp to warp.
    Tiles below;
#pragma unroll
    for (int j = 0; j < kTileRows; ++j) {
      add_row(tiles.row[kTileRows + j], tiles.row[j]);
      std::uint32_t both[kRowValues];
#pragma unroll
      for (int k = 0; k < kRowValues; ++k) {
        const std::uint32_t last = tiles.row[kTileRows + j][k];
        const std::uint32_t other = __shfl_up_sync(kAllLanes, last, kHalfGroup);
        below.row[j][k] = who.lane < kHalfGroup ? 0 : other;
        both[k] = last + other;
      }
      if (who.lane >= kHalfGroup && who.warp < kWarps - 1) {
        store_quad(quads + (who.warp * kTileRows + j) * kHalfGroup + who.member, both);
      }
    }
    __syncthreads();
#pragma unroll
    for (unsigned warp = 0; warp < kWarps - 1; ++warp) {
      if (warp >= who.warp) break;
#pragma unroll
      for (int j = 0; j < kTileRows; ++j) {
        std::uint32_t quad[kRowValues];
        load_quad(quads + (warp * kTileRows + j) * kHalfGroup + who.member, quad);
        add_row(below.row[j], quad);
      }
    }
#pragma unroll
    for (int j = 0; j < kTileRows; ++j) {
      add_row(tiles.row[j], below.row[j]);
      add_row(tiles.row[kTileRows + j], below.row[j]);
    }
  }
}

}  // namespace thinwire::codec::szp
