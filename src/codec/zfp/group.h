// Blocks side by side on the host: value i of all of them is a row, and the loops over rows are
// what the compiler vectorises. The arithmetic is that of block.h. See spec/codec-zfp.md.
#pragma once

#include <cstdint>

#include "codec/zfp/bit_matrix.h"
#include "codec/zfp/exponent.h"
#include "codec/zfp/gather.h"
#include "codec/zfp/transform.h"

namespace thinwire::codec::zfp {

template <typename Value, int kRankOfBlocks>
struct Group {
  using Scalar = Value;
  using Bits = BitsOf<Scalar>;
  static constexpr int kRank = kRankOfBlocks;
  static constexpr int kBlocks = 64 / sizeof(Scalar);
  static constexpr int kValues = kBlockValues<kRank>;
  static constexpr int kWords = kValues * FloatFormat<Scalar>::kBits / 32;
  template <typename T>
  using Row = T[kBlocks];

  alignas(64) Row<Scalar> values[kValues];
  alignas(64) Row<Bits> block[kValues];
  alignas(64) Row<std::uint32_t> planes[kWords];  // as PlaneLayout numbers them
  alignas(64) Row<IntegerOf<Scalar>> largest;
  alignas(64) Row<Scalar> scale;
  alignas(64) Row<Bits> any;
  alignas(64) Row<std::int32_t> header;
};

// The planes of one block of a group.
template <typename Group>
struct LaneWords {
  Group& group;
  int lane;

  std::uint32_t load(int index) const { return group.planes[index][lane]; }
  void store(int index, std::uint32_t word) { group.planes[index][lane] = word; }
};

// ---- Values in and out ----

// Reads the values of blocks that follow one another along x, all of them full.
template <typename Group>
inline void gather_run(const std::byte* first, const Grid& grid, Group& group) {
  using Scalar = typename Group::Scalar;
  for (int row = 0; row < Group::kValues / 4; ++row) {
    Scalar line[4 * Group::kBlocks];
    const std::uint64_t offset =
        (static_cast<std::uint64_t>(row / 4) * grid.y + static_cast<std::uint64_t>(row % 4)) *
        grid.x;
    std::memcpy(line, first + offset * sizeof(Scalar), sizeof line);
    for (int i = 0; i < 4; ++i) {
      for (int at = 0; at < Group::kBlocks; ++at) group.values[4 * row + i][at] = line[4 * at + i];
    }
  }
}

template <typename Group>
inline void scatter_run(const Group& group, const Grid& grid, std::byte* first) {
  using Scalar = typename Group::Scalar;
  for (int row = 0; row < Group::kValues / 4; ++row) {
    Scalar line[4 * Group::kBlocks];
    for (int i = 0; i < 4; ++i) {
      for (int at = 0; at < Group::kBlocks; ++at) line[4 * at + i] = group.values[4 * row + i][at];
    }
    const std::uint64_t offset =
        (static_cast<std::uint64_t>(row / 4) * grid.y + static_cast<std::uint64_t>(row % 4)) *
        grid.x;
    std::memcpy(first + offset * sizeof(Scalar), line, sizeof line);
  }
}

// ---- Bits of rows ----

template <int kDistance, int kBlocks>
inline void exchange_rows(std::uint32_t (&a)[kBlocks], std::uint32_t (&b)[kBlocks]) {
  constexpr std::uint32_t kMask = 0xffffffffu / ((1u << kDistance) + 1);
  for (int at = 0; at < kBlocks; ++at) {
    const std::uint32_t differ = ((a[at] >> kDistance) ^ b[at]) & kMask;
    b[at] ^= differ;
    a[at] ^= differ << kDistance;
  }
}

template <int kDistance, int kRows, int kBlocks>
inline void transpose_step(std::uint32_t (*rows)[kBlocks]) {
  if constexpr (kDistance < kRows) {
    for (int square = 0; square < kRows; square += 2 * kDistance) {
      for (int i = square; i < square + kDistance; ++i) {
        exchange_rows<kDistance>(rows[i], rows[i + kDistance]);
      }
    }
  }
}

// As transpose_bits(), for each block.
template <int kRows, int kBlocks>
inline void transpose_rows(std::uint32_t (*rows)[kBlocks]) {
  transpose_step<16, kRows>(rows);
  transpose_step<8, kRows>(rows);
  transpose_step<4, kRows>(rows);
  transpose_step<2, kRows>(rows);
  transpose_step<1, kRows>(rows);
}

template <int kRows, int kBlocks>
inline bool has_ones(const std::uint32_t (*rows)[kBlocks]) {
  std::uint32_t any = 0;
  for (int i = 0; i < kRows; ++i) {
    for (int at = 0; at < kBlocks; ++at) any |= rows[i][at];
  }
  return any != 0;
}

// ---- The transform ----

template <typename Group, typename Lift>
inline void lift_axis(Group& group, int stride, const Lift& lift) {
  for (int i = 0; i < Group::kValues / 4; ++i) {
    auto* const line = group.block + line_start(i, stride);
    for (int at = 0; at < Group::kBlocks; ++at) {
      auto x = line[0][at], y = line[stride][at], z = line[2 * stride][at],
           w = line[3 * stride][at];
      lift(x, y, z, w);
      line[0][at] = x;
      line[stride][at] = y;
      line[2 * stride][at] = z;
      line[3 * stride][at] = w;
    }
  }
}

// ---- All of it ----

// Values to planes, with the header and the bits that any coefficient has for each block. False
// where a value is NaN or infinite.
template <typename Group>
inline bool make_group_planes(Group& group) {
  using Scalar = typename Group::Scalar;
  using Bits = typename Group::Bits;
  using Integer = IntegerOf<Scalar>;
  for (int at = 0; at < Group::kBlocks; ++at) group.largest[at] = 0;
  for (int i = 0; i < Group::kValues; ++i) {
    for (int at = 0; at < Group::kBlocks; ++at) {
      const Integer magnitude = magnitude_bits(group.values[i][at]);
      group.largest[at] = magnitude > group.largest[at] ? magnitude : group.largest[at];
    }
  }
  Integer most = 0;
  for (int at = 0; at < Group::kBlocks; ++at) {
    most = group.largest[at] > most ? group.largest[at] : most;
    group.header[at] = block_header<Scalar>(group.largest[at]);
    group.scale[at] = forward_scale<Scalar>(group.largest[at]);
    group.any[at] = 0;
  }
  if (most >= kInfinityBits<Scalar>) return false;
  for (int i = 0; i < Group::kValues; ++i) {
    for (int at = 0; at < Group::kBlocks; ++at) {
      group.block[i][at] = quantise(group.values[i][at], group.scale[at]);
    }
  }
  const auto lift = [](Bits& x, Bits& y, Bits& z, Bits& w) { forward_lift(x, y, z, w); };
  lift_axis(group, 1, lift);
  if constexpr (Group::kRank > 1) lift_axis(group, 4, lift);
  if constexpr (Group::kRank > 2) lift_axis(group, 16, lift);

  constexpr int kRows = PlaneLayout<Group::kValues, 32>::kRows;
  constexpr int kSets = Group::kWords / kRows;
  constexpr int kHigh = sizeof(Scalar) == 8 ? Group::kWords / 2 : 0;
  for (int i = 0; i < Group::kValues; ++i) {
    const auto& from = group.block[kSequency<Group::kRank>[i]];
    for (int at = 0; at < Group::kBlocks; ++at) {
      const Bits value = to_negabinary(from[at]);
      group.any[at] |= value;
      group.planes[i][at] = static_cast<std::uint32_t>(value);
      if constexpr (kHigh != 0) {
        group.planes[kHigh + i][at] = static_cast<std::uint32_t>(value >> 32);
      }
    }
  }
  for (int set = 0; set < kSets; ++set) transpose_rows<kRows>(group.planes + set * kRows);
  return true;
}

// Planes to values, with the scale of each block.
template <typename Group>
inline void restore_group(Group& group) {
  using Scalar = typename Group::Scalar;
  using Bits = typename Group::Bits;
  constexpr int kRows = PlaneLayout<Group::kValues, 32>::kRows;
  constexpr int kSets = Group::kWords / kRows;
  constexpr int kHigh = sizeof(Scalar) == 8 ? Group::kWords / 2 : 0;
  for (int set = 0; set < kSets; ++set) {
    // At low rates the lowest planes of fp64 have no ones.
    if (has_ones<kRows>(group.planes + set * kRows)) {
      transpose_rows<kRows>(group.planes + set * kRows);
    }
  }
  for (int i = 0; i < Group::kValues; ++i) {
    auto& to = group.block[kSequency<Group::kRank>[i]];
    for (int at = 0; at < Group::kBlocks; ++at) {
      Bits value = group.planes[i][at];
      if constexpr (kHigh != 0) value |= static_cast<Bits>(group.planes[kHigh + i][at]) << 32;
      to[at] = from_negabinary(value);
    }
  }
  const auto lift = [](Bits& x, Bits& y, Bits& z, Bits& w) { inverse_lift(x, y, z, w); };
  if constexpr (Group::kRank > 2) lift_axis(group, 16, lift);
  if constexpr (Group::kRank > 1) lift_axis(group, 4, lift);
  lift_axis(group, 1, lift);
  for (int i = 0; i < Group::kValues; ++i) {
    for (int at = 0; at < Group::kBlocks; ++at) {
      group.values[i][at] = restore(group.block[i][at], group.scale[at]);
    }
  }
}

}  // namespace thinwire::codec::zfp
