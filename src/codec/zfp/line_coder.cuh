// Lines of fp32 on the device: one thread a block of four, without a loop over planes.
#pragma once

#include "codec/zfp/array_access.cuh"
#include "codec/zfp/block.h"
#include "codec/zfp/line_block.h"
#include "codec/zfp/line_short.h"
#include "codec/zfp/tile_plan.h"
#include "codec/zfp/word_stream.h"

namespace thinwire::codec::zfp {

// Tables in global memory: threads look up different entries, which constant memory would serve in
// turns.
__device__ constexpr Tables kDeviceTables = make_tables();

// kShort: for blocks of up to kMaxShortBits bits; otherwise for any.
template <typename Sink, bool kShort>
struct LineCoder {
  using Scalar = float;
  static constexpr int kRank = 1;
  static constexpr int kThreads = 128;
  static constexpr int kRoundBlocks = kThreads;
  static constexpr int kResident = kShort ? 12 : 8;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kSmallScratchBytes = 0;

  TilePlan plan;
  Access access;
  Sink sink;

  __device__ bool encode(const std::byte* source, const cuda::Tile& tile, std::uint64_t* payload,
                         std::byte*) const {
    auto* const words = reinterpret_cast<std::uint32_t*>(payload);
    const std::uint32_t blocks = plan.blocks(tile);
    clear(tile, words, blocks);
    const std::byte* const first = place_of(source, tile);
    const std::uint32_t whole = whole_blocks(tile, blocks);
    std::int32_t most = 0;
    const auto put_values = [&](std::uint32_t at, const float(&values)[4]) {
      const std::int32_t largest = largest_magnitude(values);
      most = largest > most ? largest : most;
      put(words, at, line_coefficients(values, forward_scale<float>(largest)),
          static_cast<std::uint32_t>(block_header<float>(largest)));
    };
    std::uint32_t at = threadIdx.x;
    for (; at < whole; at += kThreads) {
      float values[4];
      load_row(reinterpret_cast<const float*>(first) + 4 * at, values);
      put_values(at, values);
    }
    const Grid grid = plan.grid(tile);
    for (; at < blocks; at += kThreads) {
      float values[4];
      load_block<float, 1>(first - 4 * sizeof(float) * plan.first_block(tile), grid,
                           TilePlan::place<1>(grid, plan.first_block(tile) + at), access, values);
      put_values(at, values);
    }
    return most < kInfinityBits<float>;
  }

  __device__ void decode(const std::uint64_t* payload, const cuda::Tile& tile, std::byte*,
                         std::byte* destination) const {
    const auto* const words = reinterpret_cast<const std::uint32_t*>(payload);
    const std::uint32_t blocks = plan.blocks(tile);
    std::byte* const first = place_of(destination, tile);
    const std::uint32_t whole = whole_blocks(tile, blocks);
    const auto get_values = [&](std::uint32_t at, float(&values)[4]) {
      float scale;
      const Block coefficients = get(words, tile.bytes / 4, at, scale);
      line_values(coefficients, scale, values);
    };
    std::uint32_t at = threadIdx.x;
    for (; at < whole; at += kThreads) {
      float values[4];
      get_values(at, values);
      store_row(sink, first + sizeof values * at, values);
    }
    const Grid grid = plan.grid(tile);
    for (; at < blocks; at += kThreads) {
      float values[4];
      get_values(at, values);
      store_block<float, 1>(values, grid, TilePlan::place<1>(grid, plan.first_block(tile) + at),
                            access, sink, first - sizeof values * plan.first_block(tile));
    }
  }

 private:
  // The tile's first value.
  template <typename Bytes>
  __device__ Bytes* place_of(Bytes* array, const cuda::Tile& tile) const {
    return array + (tile.chunk * plan.chunk_values + 4 * std::uint64_t{plan.first_block(tile)}) *
                       sizeof(float);
  }

  // The tile's blocks that are full, where their values can be had 16 bytes at a time.
  __device__ std::uint32_t whole_blocks(const cuda::Tile& tile, std::uint32_t blocks) const {
    if (access != Access::kRows) return 0;
    const auto full = static_cast<std::uint32_t>(plan.grid(tile).x / 4) - plan.first_block(tile);
    return full < blocks ? full : blocks;
  }

  // Clears words that blocks share, and those after the last block.
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
