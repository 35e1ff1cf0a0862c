// Lines of fp32 on the device: one thread a block of four, without a loop over planes.
#pragma once

#include "codec/zfp/array_access.cuh"
#include "codec/zfp/block.h"
#include "codec/zfp/line_block.h"
#include "codec/zfp/tile_plan.h"
#include "codec/zfp/word_stream.h"

namespace thinwire::codec::zfp {

// In global memory: threads look up different entries, which constant memory would serve in turns.
__device__ constexpr Tables kDeviceTables = make_tables();

struct LineCoder {
  using Scalar = float;
  static constexpr int kRank = 1;
  static constexpr int kThreads = 128;
  static constexpr std::uint32_t kScratchBytes = 0;

  TilePlan plan;
  Access access;

  __device__ bool encode(const std::byte* source, const cuda::Tile& tile, std::uint64_t* payload,
                         std::byte*) const {
    const int bits = plan.block_bits;
    for (std::uint32_t at = threadIdx.x; at < tile.bytes / 8; at += kThreads) payload[at] = 0;
    __syncthreads();
    const Grid grid = plan.grid(tile);
    const std::byte* const chunk = source + tile.chunk * plan.chunk_values * sizeof(float);
    bool taken = true;
    for (std::uint32_t at = threadIdx.x; at < plan.blocks(tile); at += kThreads) {
      float values[4];
      load_block<float, 1>(chunk, grid, TilePlan::place<1>(grid, plan.first_block(tile) + at),
                           access, values);
      const std::int32_t largest = largest_magnitude(values);
      taken = taken && largest < kInfinityBits<float>;
      const Block coefficients = line_coefficients(values, forward_scale<float>(largest));
      const auto header = static_cast<std::uint32_t>(block_header<float>(largest));
      const LineBits code =
          line_bits(kDeviceTables, coefficients, to_planes(coefficients), header, bits);
      WordWriter writer(reinterpret_cast<std::uint32_t*>(payload), at * bits, bits, bits % 32 == 0);
      writer.put(code.first, smaller(bits, 64));
      if (bits > 64) writer.put(code.second, bits - 64);
      writer.finish();
    }
    return taken;
  }

  __device__ void decode(const std::uint64_t* payload, const cuda::Tile& tile, std::byte*,
                         std::byte* destination) const {
    const int bits = plan.block_bits;
    const Grid grid = plan.grid(tile);
    std::byte* const chunk = destination + tile.chunk * plan.chunk_values * sizeof(float);
    for (std::uint32_t at = threadIdx.x; at < plan.blocks(tile); at += kThreads) {
      WordReader<std::uint64_t> reader(reinterpret_cast<const std::uint32_t*>(payload), at * bits);
      LineBits code = {reader.window() & low_bits_mask(bits), 0};
      if (bits > 64) {
        reader.skip(64);
        code.second = reader.window() & low_bits_mask(bits - 64);
      }
      const float scale = inverse_scale<float>(static_cast<std::uint32_t>(code.first) & 0x1ff);
      float values[4];
      line_values(from_planes(line_planes(kDeviceTables, code, bits)), scale, values);
      store_block<float, 1>(values, grid, TilePlan::place<1>(grid, plan.first_block(tile) + at),
                            access, chunk);
    }
  }
};

}  // namespace thinwire::codec::zfp
