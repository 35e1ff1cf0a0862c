// Loading and storing a thread's block of an array on the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/cuda/any_alignment.cuh"
#include "codec/cuda/sink.cuh"
#include "codec/zfp/exponent.h"
#include "codec/zfp/gather.h"

namespace thinwire::codec::zfp {

template <typename Sink>
using ScalarOf = NumberOf<Sink::kDtype>;

// How the values of an array may be reached, by the alignment of all its rows of four.
enum class Access : std::uint32_t {
  kRows,    // 16 bytes at a time
  kValues,  // value by value
  kBytes,
};

// For an array at `base` whose rows of the fastest axis have `row_values` values; a line is one
// row.
inline Access access_of(const void* base, std::uint64_t row_values, int rank, std::size_t size) {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  if (address % size != 0) return Access::kBytes;
  const bool rows = address % 16 == 0 && (rank == 1 || row_values * size % 16 == 0);
  return rows ? Access::kRows : Access::kValues;
}

__device__ inline void load_row(const float* at, float* values) {
  const float4 row = __ldg(reinterpret_cast<const float4*>(at));
  values[0] = row.x;
  values[1] = row.y;
  values[2] = row.z;
  values[3] = row.w;
}

__device__ inline void load_row(const double* at, double* values) {
  const double2 low = __ldg(reinterpret_cast<const double2*>(at));
  const double2 high = __ldg(reinterpret_cast<const double2*>(at) + 1);
  values[0] = low.x;
  values[1] = low.y;
  values[2] = high.x;
  values[3] = high.y;
}

template <typename Sink>
__device__ void store_row(const Sink& sink, std::byte* at, const float* values) {
  uint4 row;
  memcpy(&row, values, sizeof row);
  sink.put_aligned(at, row);
}

template <typename Sink>
__device__ void store_row(const Sink& sink, std::byte* at, const double* values) {
  uint4 row[2];
  memcpy(row, values, sizeof row);
  sink.put_aligned(at, row[0]);
  sink.put_aligned(at + sizeof row[0], row[1]);
}

// The offset of a block's value at (x, y, z) from its first one, in values.
__device__ inline std::uint64_t offset_in(const Grid& grid, int x, int y, int z) {
  return (static_cast<std::uint64_t>(z) * grid.y + y) * grid.x + x;
}

// As gather_block().
template <typename Scalar, int kRank>
__device__ void load_block(const std::byte* source, const Grid& grid, const BlockPlace& place,
                           Access access, Scalar (&values)[kBlockValues<kRank>]) {
  const std::byte* const base = source + place.first * sizeof(Scalar);
  const auto* const first = reinterpret_cast<const Scalar*>(base);
  if (access == Access::kRows && is_full<kRank>(place)) {
#pragma unroll
    for (int row = 0; row < kBlockValues<kRank> / 4; ++row) {
      load_row(first + offset_in(grid, 0, row % 4, row / 4), values + 4 * row);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kBlockValues<kRank>; ++i) {
    const std::uint64_t offset = offset_in(
        grid, pad_index(i % 4, place.x), pad_index(i / 4 % 4, place.y), pad_index(i / 16, place.z));
    values[i] = access == Access::kBytes
                    ? __builtin_bit_cast(
                          Scalar, cuda::load_bytes<BitsOf<Scalar>>(base + offset * sizeof(Scalar)))
                    : __ldg(first + offset);
  }
}

// As scatter_block(), to where the sink says.
template <typename Scalar, int kRank, typename Sink>
__device__ void store_block(const Scalar (&values)[kBlockValues<kRank>], const Grid& grid,
                            const BlockPlace& place, Access access, const Sink& sink,
                            std::byte* destination) {
  std::byte* const first = destination + place.first * sizeof(Scalar);
  if (access == Access::kRows && is_full<kRank>(place)) {
#pragma unroll
    for (int row = 0; row < kBlockValues<kRank> / 4; ++row) {
      store_row(sink, first + offset_in(grid, 0, row % 4, row / 4) * sizeof(Scalar),
                values + 4 * row);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kBlockValues<kRank>; ++i) {
    if (i % 4 >= place.x || i / 4 % 4 >= place.y || i / 16 >= place.z) continue;
    const std::uint64_t offset = offset_in(grid, i % 4, i / 4 % 4, i / 16);
    const auto bits = __builtin_bit_cast(BitsOf<Scalar>, values[i]);
    if (access == Access::kBytes) {
      sink.put(first + offset * sizeof(Scalar), bits);
    } else {
      sink.put_aligned(first + offset * sizeof(Scalar), bits);
    }
  }
}

}  // namespace thinwire::codec::zfp
