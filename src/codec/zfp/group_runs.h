// The values of blocks that follow one another along x, all of them full along it, to the rows of a
// group and back.
#pragma once

#include <cstdint>
#include <cstring>

#include "codec/zfp/gather.h"
#include "codec/zfp/group.h"
#include "codec/zfp/vectors.h"

namespace thinwire::codec::zfp {

// The distance in the array from the first value of blocks to row y of layer z.
inline std::uint64_t row_offset(int y, int z, const Grid& grid) {
  return (static_cast<std::uint64_t>(z) * grid.y + static_cast<std::uint64_t>(y)) * grid.x;
}

// Reads the values of blocks that follow one another along x, the first one at `place`.
template <typename Group>
inline void gather_run(const std::byte* source, const Grid& grid, const BlockPlace& place,
                       Group& group) {
  using Scalar = typename Group::Scalar;
  const std::byte* const first = source + place.first * sizeof(Scalar);
  for (int row = 0; row < Group::kValues / 4; ++row) {
    const std::uint64_t offset =
        row_offset(pad_index(row % 4, place.y), pad_index(row / 4, place.z), grid);
    const std::byte* line = first + offset * sizeof(Scalar);
    if constexpr (sizeof(Scalar) == 8) {
      for (int at = 0; at < Group::kBlocks; at += 4, line += 4 * kVectorBytes) {
        Vector<Scalar> four[4];
        for (int i = 0; i < 4; ++i) load_vector<Scalar>(line + i * kVectorBytes, four[i]);
        transpose_fours<Scalar>(four);
        for (int i = 0; i < 4; ++i) store_vector<Scalar>(group.values[4 * row + i] + at, four[i]);
      }
    } else {
      Scalar values[4 * Group::kBlocks];
      std::memcpy(values, line, sizeof values);
      for (int i = 0; i < 4; ++i) {
        for (int at = 0; at < Group::kBlocks; ++at) {
          group.values[4 * row + i][at] = values[4 * at + i];
        }
      }
    }
  }
}

template <typename Group>
inline void scatter_run(const Group& group, const Grid& grid, const BlockPlace& place,
                        std::byte* out) {
  using Scalar = typename Group::Scalar;
  std::byte* const first = out + place.first * sizeof(Scalar);
  for (int row = 0; row < Group::kValues / 4; ++row) {
    if (row % 4 >= place.y || row / 4 >= place.z) continue;
    std::byte* line = first + row_offset(row % 4, row / 4, grid) * sizeof(Scalar);
    if constexpr (sizeof(Scalar) == 8) {
      for (int at = 0; at < Group::kBlocks; at += 4, line += 4 * kVectorBytes) {
        Vector<Scalar> four[4];
        for (int i = 0; i < 4; ++i) load_vector<Scalar>(group.values[4 * row + i] + at, four[i]);
        transpose_fours<Scalar>(four);
        for (int i = 0; i < 4; ++i) store_vector<Scalar>(line + i * kVectorBytes, four[i]);
      }
    } else {
      Scalar values[4 * Group::kBlocks];
      for (int i = 0; i < 4; ++i) {
        for (int at = 0; at < Group::kBlocks; ++at) {
          values[4 * at + i] = group.values[4 * row + i][at];
        }
      }
      std::memcpy(line, values, sizeof values);
    }
  }
}

}  // namespace thinwire::codec::zfp
