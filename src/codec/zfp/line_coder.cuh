// Lines of fp32 on the device: one thread a block of four, without a loop over planes.
#pragma once

#include "codec/zfp/array_access.cuh"
#include "codec/zfp/block.h"
#include "codec/zfp/line_block.h"
#include "codec/zfp/line_short.h"
#include "codec/zfp/tile_plan.h"
#include "codec/zfp/word_stream.h"

namespace thinwire::codec::zfp {

// In global memory: threads look up different entries, which constant memory would serve in turns.
__device__ constexpr Tables kDeviceTables = make_tables();

// kShort: for blocks of up to kMaxShortBits bits; otherwise for any.
template <typename Sink, bool kShort>
struct LineCoder {
  using Scalar = float;
  static constexpr int kRank = 1;
#ifndef ZFP_LINE_THREADS
#define ZFP_LINE_THREADS 128
#endif
#ifndef ZFP_LINE_WARPS
#define ZFP_LINE_WARPS 32
#endif
#ifndef ZFP_LINE_ROUNDS
#define ZFP_LINE_ROUNDS 4
#endif
  static constexpr int kThreads = ZFP_LINE_THREADS;
  static constexpr int kResident = ZFP_LINE_WARPS * 32 / ZFP_LINE_THREADS;
  static constexpr std::uint32_t kScratchBytes = 0;

  TilePlan plan;
  Access access;
  Sink sink;

  __device__ bool encode(const std::byte* source, const cuda::Tile& tile, std::uint64_t* payload,
                         std::byte*) const {
    auto* const words = reinterpret_cast<std::uint32_t*>(payload);
    const std::uint32_t blocks = plan.blocks(tile);
    clear(tile, words, blocks);
    const Grid grid = plan.grid(tile);
    const std::byte* const chunk = source + tile.chunk * plan.chunk_values * sizeof(float);
    bool taken = true;
    for (std::uint32_t at = threadIdx.x; at < blocks; at += kThreads) {
      float values[4];
      load_block<float, 1>(chunk, grid, TilePlan::place<1>(grid, plan.first_block(tile) + at),
                           access, values);
      const std::int32_t largest = largest_magnitude(values);
      taken = taken && largest < kInfinityBits<float>;
      put(words, at, line_coefficients(values, forward_scale<float>(largest)),
          static_cast<std::uint32_t>(block_header<float>(largest)));
    }
    return taken;
  }

  __device__ void decode(const std::uint64_t* payload, const cuda::Tile& tile, std::byte*,
                         std::byte* destination) const {
    const auto* const words = reinterpret_cast<const std::uint32_t*>(payload);
    const Grid grid = plan.grid(tile);
    std::byte* const chunk = destination + tile.chunk * plan.chunk_values * sizeof(float);
    for (std::uint32_t at = threadIdx.x; at < plan.blocks(tile); at += kThreads) {
      float scale;
      const Block coefficients = get(words, tile.bytes / 4, at, scale);
      float values[4];
      line_values(coefficients, scale, values);
      store_block<float, 1>(values, grid, TilePlan::place<1>(grid, plan.first_block(tile) + at),
                            access, sink, chunk);
    }
  }

 private:
  // Zeros where blocks share words, and behind the last block.
  __device__ void clear(const cuda::Tile& tile, std::uint32_t* words, std::uint32_t blocks) const {
    const std::uint32_t count = tile.bytes / 4;
    if (plan.block_bits % 32 != 0) {
      for (std::uint32_t at = threadIdx.x; at < count; at += kThreads) words[at] = 0;
      __syncthreads();
    } else if (threadIdx.x == 0 && blocks * plan.block_bits / 32 < count) {
      words[count - 1] = 0;
    }
  }

  __device__ void put(std::uint32_t* words, std::uint32_t at, const Block& coefficients,
                      std::uint32_t header) const {
    const int bits = plan.block_bits;
    if constexpr (kShort) {
      const std::uint32_t code = short_bits(kDeviceTables, coefficients, header, bits);
      if (bits == 32) {
        words[at] = code;
      } else {
        write<false>(words, at, {code, 0});
      }
    } else {
      const LineBits code =
          line_bits(kDeviceTables, coefficients, to_planes(coefficients), header, bits);
      if (bits % 32 == 0) {
        write<true>(words, at, code);
      } else {
        write<false>(words, at, code);
      }
    }
  }

  template <bool kApart>
  __device__ void write(std::uint32_t* words, std::uint32_t at, const LineBits& code) const {
    const int bits = plan.block_bits;
    WordWriter<kApart> writer(words, at * bits, bits);
    writer.put(code.first, smaller(bits, 64));
    if (bits > 64) writer.put(code.second, bits - 64);
    writer.finish();
  }

  __device__ Block get(const std::uint32_t* words, std::uint32_t count, std::uint32_t at,
                       float& scale) const {
    const int bits = plan.block_bits;
    if constexpr (kShort) {
      std::uint32_t code;
      if (bits == 32) {
        code = words[at];
      } else {
        const WordReader reader(words, count, at * bits);
        code = reader.window() & static_cast<std::uint32_t>(low_bits_mask(bits));
      }
      scale = inverse_scale<float>(code & 0x1ff);
      return short_coefficients(kDeviceTables, code, bits);
    } else {
      WordReader reader(words, count, at * bits);
      const auto next = [&] {
        const std::uint64_t low = reader.window();
        reader.skip(32);
        return low | std::uint64_t{reader.window()} << 32;
      };
      LineBits code = {next() & low_bits_mask(bits), 0};
      if (bits > 64) {
        reader.skip(32);
        code.second = next() & low_bits_mask(bits - 64);
      }
      scale = inverse_scale<float>(static_cast<std::uint32_t>(code.first) & 0x1ff);
      return from_planes(line_planes(kDeviceTables, code, bits));
    }
  }
};

}  // namespace thinwire::codec::zfp
