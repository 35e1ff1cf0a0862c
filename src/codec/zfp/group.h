// Blocks side by side on the host: value i of all of them is a row, and the loops over rows are
// what the compiler vectorises. The arithmetic is that of block.h. See spec/codec-zfp.md.
#pragma once

#include <cstdint>

#include "codec/zfp/bit_matrix.h"
#include "codec/zfp/exponent.h"
#include "codec/zfp/gather.h"
#include "codec/zfp/group_planes.h"
#include "codec/zfp/plane_lists.h"
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
  static constexpr int kHalves = FloatFormat<Scalar>::kBits / 32;
  static constexpr bool kHasLists = kValues == 16;
  template <typename T>
  using Row = T[kBlocks];

  alignas(64) Row<Scalar> values[kValues];
  alignas(64) Row<Bits> block[kValues];
  // Coefficients in their order, those of fp64 by lower and upper halves; and the words of planes
  // as PlaneLayout numbers them. A row of blocks each. Decoders find no ones in the planes, as
  // restore_group() takes them away.
  alignas(64) std::uint32_t rows[kWords * kBlocks];
  alignas(64) std::uint32_t planes[kWords * kBlocks] = {};
  alignas(64) Row<IntegerOf<Scalar>> largest;
  alignas(64) Row<Scalar> scale;
  alignas(64) Row<Bits> any;
  alignas(64) Row<std::int32_t> header;
  std::uint32_t made = 0;  // pieces of planes, a bit each
  // In the place of `planes`: lists of them, zeros after the last one, and how many are made.
  alignas(64) Row<std::uint16_t[kHasLists ? FloatFormat<Scalar>::kBits + kListPiece : 1]> list = {};
  int listed = 0;
};

// ---- The transform ----

template <int kStride, bool kInVectors, int kValues, int kBlocks, typename Word, typename Lift>
inline void lift_axis(Word (&block)[kValues][kBlocks], const Lift& lift) {
  for (int i = 0; i < kValues / 4; ++i) {
    auto* const line = block + line_start(i, kStride);
    if constexpr (kInVectors) {
      for (int at = 0; at < kBlocks; at += kVectorBytes / 4) {
        VectorWord word[4];
        for (int j = 0; j < 4; ++j) load_vector<Word>(line[j * kStride] + at, word[j].lanes);
        lift(word[0], word[1], word[2], word[3]);
        for (int j = 0; j < 4; ++j) store_vector<Word>(line[j * kStride] + at, word[j].lanes);
      }
    } else {
      for (int at = 0; at < kBlocks; ++at) {
        auto x = line[0][at], y = line[kStride][at], z = line[2 * kStride][at],
             w = line[3 * kStride][at];
        lift(x, y, z, w);
        line[0][at] = x;
        line[kStride][at] = y;
        line[2 * kStride][at] = z;
        line[3 * kStride][at] = w;
      }
    }
  }
}

template <int kValues, int kBlocks, typename Word>
inline void forward_rows(Word (&block)[kValues][kBlocks]) {
  const auto lift = [](auto& x, auto& y, auto& z, auto& w) { forward_lift(x, y, z, w); };
  lift_axis<1, false>(block, lift);
  if constexpr (kValues > 4) lift_axis<4, false>(block, lift);
  if constexpr (kValues > 16) lift_axis<16, false>(block, lift);
}

template <int kValues, int kBlocks, typename Word>
inline void inverse_rows(Word (&block)[kValues][kBlocks]) {
  const auto lift = [](auto& x, auto& y, auto& z, auto& w) { inverse_lift(x, y, z, w); };
  if constexpr (kValues > 16) lift_axis<16, sizeof(Word) == 4>(block, lift);
  if constexpr (kValues > 4) lift_axis<4, sizeof(Word) == 4>(block, lift);
  lift_axis<1, sizeof(Word) == 4>(block, lift);
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
  if (most < kSmallestCodedBits<Scalar>) return true;  // all are empty
  for (int i = 0; i < Group::kValues; ++i) {
    for (int at = 0; at < Group::kBlocks; ++at) {
      group.block[i][at] = quantise(group.values[i][at], group.scale[at]);
    }
  }
  forward_rows(group.block);
  for (int i = 0; i < Group::kValues; ++i) {
    const auto& from = group.block[kSequency<Group::kRank>[i]];
    std::uint32_t* const row = group.rows + i * Group::kBlocks;
    for (int at = 0; at < Group::kBlocks; ++at) {
      const Bits value = to_negabinary(from[at]);
      group.any[at] |= value;
      row[at] = static_cast<std::uint32_t>(value);
      if constexpr (sizeof(Scalar) == 8) {
        row[Group::kValues * Group::kBlocks + at] = static_cast<std::uint32_t>(value >> 32);
      }
    }
  }
  group.made = 0;
  group.listed = 0;
  return true;
}

// Makes the words that have plane k, if they are not there.
template <typename Group>
inline void need_plane(Group& group, unsigned k) {
  const int piece = PlanePieces<Group::kValues>::of(k);
  if ((group.made >> piece & 1) != 0) return;
  group.made |= 1u << piece;
  make_piece(group, piece);
}

// Values of coefficients whose lower halves are 0, and in the upper ones as many bits as the
// transform halves one: no step has bits below the upper halves, so that it is that of 32 bits.
template <typename Group>
inline void restore_narrow(Group& group) {
  using Scalar = typename Group::Scalar;
  std::uint32_t block[Group::kValues][Group::kBlocks];
  const std::uint32_t* const upper = group.rows + Group::kValues * Group::kBlocks;
  for (int i = 0; i < Group::kValues; ++i) {
    auto& to = block[kSequency<Group::kRank>[i]];
    for (int at = 0; at < Group::kBlocks; ++at) {
      to[at] = from_negabinary(upper[i * Group::kBlocks + at]);
    }
  }
  inverse_rows(block);
  for (int at = 0; at < Group::kBlocks; ++at) group.scale[at] *= 0x1p32;
  for (int i = 0; i < Group::kValues; ++i) {
    for (int at = 0; at < Group::kBlocks; ++at) {
      group.values[i][at] =
          static_cast<Scalar>(static_cast<std::int32_t>(block[i][at])) * group.scale[at];
    }
  }
}

template <typename Group>
inline void restore_wide(Group& group) {
  using Bits = typename Group::Bits;
  for (int i = 0; i < Group::kValues; ++i) {
    auto& to = group.block[kSequency<Group::kRank>[i]];
    const std::uint32_t* const row = group.rows + i * Group::kBlocks;
    for (int at = 0; at < Group::kBlocks; ++at) {
      Bits value = row[at];
      if constexpr (sizeof(Bits) == 8) {
        value |= static_cast<Bits>(row[Group::kValues * Group::kBlocks + at]) << 32;
      }
      to[at] = from_negabinary(value);
    }
  }
  inverse_rows(group.block);
  for (int i = 0; i < Group::kValues; ++i) {
    for (int at = 0; at < Group::kBlocks; ++at) {
      group.values[i][at] = restore(group.block[i][at], group.scale[at]);
    }
  }
}

// The rows of coefficients, of planes below which none have ones.
template <typename Group>
inline void restore_rows(Group& group, int lowest) {
  using Pieces = PlanePieces<Group::kValues>;
  constexpr int kPlanes = FloatFormat<typename Group::Scalar>::kBits;
  std::memset(group.rows, 0, sizeof group.rows);
  if constexpr (Group::kHasLists) {
    rows_of_lists(group, kPlanes - lowest);
  } else {
    std::uint32_t done = 0;
    for (int k = kPlanes - 1; k >= lowest; --k) {
      const int piece = Pieces::of(static_cast<unsigned>(k));
      if ((done >> piece & 1) == 0) add_piece(group, piece);
      done |= 1u << piece;
    }
  }
}

// Planes to values, with the scale of each block; planes below `lowest` have no ones.
template <typename Group>
inline void restore_group(Group& group, int lowest) {
  constexpr int kPlanes = FloatFormat<typename Group::Scalar>::kBits;
  if (lowest == kPlanes) {  // all are empty
    std::memset(group.values, 0, sizeof group.values);
    return;
  }
  restore_rows(group, lowest);
  if constexpr (kPlanes == 64) {
    if (lowest >= 32 + 2 * Group::kRank) return restore_narrow(group);
  }
  restore_wide(group);
}

}  // namespace thinwire::codec::zfp
