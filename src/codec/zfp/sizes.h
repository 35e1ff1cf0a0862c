// Sizes that follow from shape, dtype and parameter alone: the bits of a block, the bytes of a
// chunk, the planes that a chunk holds. See spec/codec-zfp.md.
#pragma once

#include <bit>
#include <cstdint>

#include "base/bytes.h"
#include "base/dtype.h"
#include "codec/zfp/bits.h"
#include "codec/zfp/gather.h"

namespace thinwire::codec::zfp {

inline constexpr int kMaxRank = 3;

// The parameter word is the rate in 64ths of a bit per value.
inline constexpr int kRateSteps = 64;
inline constexpr std::uint64_t kMaxParameter = 64 * kRateSteps;

inline constexpr std::uint64_t kLineChunkValues = 16384;  // whole words at every rate
inline constexpr std::uint64_t kMinChunkBytes = 65536;

constexpr int header_bits(Dtype dtype) { return dtype == Dtype::kF64 ? 12 : 9; }

constexpr int max_block_bits(Dtype dtype, int rank) {
  return (1 << (2 * rank)) * (dtype == Dtype::kF64 ? 64 : 32);
}

// The bits of a block that a rate asks for, a parameter of 1 to kMaxParameter.
constexpr int wanted_block_bits(std::uint64_t parameter, int rank) {
  return static_cast<int>(((parameter << (2 * rank)) + kRateSteps / 2) / kRateSteps);
}

// The bits that a block takes: not less than its header, not more than its values.
constexpr int block_bits(std::uint64_t parameter, Dtype dtype, int rank) {
  const int most = max_block_bits(dtype, rank);
  const int wanted = smaller(wanted_block_bits(parameter, rank), most);
  return wanted > header_bits(dtype) ? wanted : header_bits(dtype);
}

constexpr Grid make_grid(const Shape& shape) {
  Grid grid{};
  grid.x = shape.extent[shape.rank - 1];
  if (shape.rank > 1) grid.y = shape.extent[shape.rank - 2];
  if (shape.rank > 2) grid.z = shape.extent[shape.rank - 3];
  return grid;
}

// Bytes of `blocks` blocks: whole 64-bit words. What no memory holds is not told apart, so that
// the product stays in range.
constexpr std::uint64_t encoded_bytes(std::uint64_t blocks, int bits) {
  constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 48;
  const std::uint64_t counted = blocks < kMostBlocks ? blocks : kMostBlocks;
  return ceil_div(counted * static_cast<std::uint64_t>(bits), 64) * 8;
}

// Planes of the slowest axis in a chunk: the fewest layers of blocks that hold kMinChunkBytes and
// whose bits are whole words, so that the chunks of an array join without a seam.
constexpr std::uint64_t chunk_planes(const Shape& shape, Dtype dtype, std::uint64_t parameter) {
  if (shape.rank == 1) return kLineChunkValues;
  Shape layer = shape;
  layer.extent[0] = 1;
  const Grid grid = make_grid(layer);
  const std::uint64_t plane_bytes = layer.count() * dtype_size(dtype);
  const std::uint64_t enough =
      plane_bytes >= kMinChunkBytes / 4 ? 1 : ceil_div(kMinChunkBytes, 4 * plane_bytes);
  const std::uint64_t layer_bits =
      grid.blocks() * static_cast<std::uint64_t>(block_bits(parameter, dtype, shape.rank));
  const std::uint64_t step = 64u >> std::countr_zero(layer_bits | 64);
  return ceil_div(enough, step) * step * 4;
}

}  // namespace thinwire::codec::zfp
