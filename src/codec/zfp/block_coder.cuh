// Blocks of any rank and dtype on the device: one thread a block.
#pragma once

#include "codec/zfp/array_access.cuh"
#include "codec/zfp/block.h"
#include "codec/zfp/tile_plan.h"
#include "codec/zfp/word_stream.h"

namespace thinwire::codec::zfp {

// Planes in shared memory, the same word of all threads side by side.
template <int kThreads>
struct SharedWords {
  std::uint32_t* own;

  __device__ explicit SharedWords(std::byte* scratch)
      : own(reinterpret_cast<std::uint32_t*>(scratch) + threadIdx.x) {}
  __device__ std::uint32_t load(int index) const { return own[index * kThreads]; }
  __device__ void store(int index, std::uint32_t word) { own[index * kThreads] = word; }
};

template <typename Value, int kRankOfBlocks>
struct BlockCoder {
  using Scalar = Value;
  static constexpr int kRank = kRankOfBlocks;
  // Fewer in higher ranks, whose blocks are larger, so that small arrays are spread as well.
  static constexpr int kThreads = kRank == 1 ? 128 : kRank == 2 ? 64 : 32;
  // Leaves as many registers as the values of a block need.
  static constexpr int kResident = sizeof(Scalar) == 8 ? 8 : 16;
  static constexpr std::uint32_t kScratchBytes = kThreads * kPlaneWords<Scalar, kRank> * 4;

  TilePlan plan;
  Access access;

  __device__ bool encode(const std::byte* source, const cuda::Tile& tile, std::uint64_t* payload,
                         std::byte* scratch) const {
    for (std::uint32_t at = threadIdx.x; at < tile.bytes / 8; at += kThreads) payload[at] = 0;
    __syncthreads();
    const Grid grid = plan.grid(tile);
    const std::byte* const chunk = source + tile.chunk * plan.chunk_values * sizeof(Scalar);
    SharedWords<kThreads> planes(scratch);
    bool taken = true;
    for (std::uint32_t at = threadIdx.x; at < plan.blocks(tile); at += kThreads) {
      const BlockPlace place = TilePlan::place<kRank>(grid, plan.first_block(tile) + at);
      Scalar values[kBlockValues<kRank>];
      load_block<Scalar, kRank>(chunk, grid, place, access, values);
      WordWriter writer(reinterpret_cast<std::uint32_t*>(payload), at * plan.block_bits,
                        plan.block_bits, plan.block_bits % 32 == 0);
      taken = encode_block<Scalar, kRank>(values, planes, writer) && taken;
      writer.finish();
    }
    return taken;
  }

  __device__ void decode(const std::uint64_t* payload, const cuda::Tile& tile, std::byte* scratch,
                         std::byte* destination) const {
    using Plane = typename PlaneLayout<kBlockValues<kRank>, 32>::Plane;
    const Grid grid = plan.grid(tile);
    std::byte* const chunk = destination + tile.chunk * plan.chunk_values * sizeof(Scalar);
    SharedWords<kThreads> planes(scratch);
    for (std::uint32_t at = threadIdx.x; at < plan.blocks(tile); at += kThreads) {
      const BlockPlace place = TilePlan::place<kRank>(grid, plan.first_block(tile) + at);
      WordReader<Plane> reader(reinterpret_cast<const std::uint32_t*>(payload),
                               at * plan.block_bits);
      Scalar values[kBlockValues<kRank>];
      decode_block<Scalar, kRank>(reader, plan.block_bits, planes, values);
      store_block<Scalar, kRank>(values, grid, place, access, chunk);
    }
  }
};

}  // namespace thinwire::codec::zfp
