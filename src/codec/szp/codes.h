// The tiles' codes on the host: found, and as the bits that a payload has.
#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "base/bytes.h"
#include "codec/szp/index_box.h"
#include "codec/szp/reader.h"
#include "codec/szp/writer.h"

namespace thinwire::codec::szp {

using Codes = std::array<std::uint8_t, kTiles>;

inline constexpr auto kNarrowCodes = [] {
  std::array<std::uint8_t, 256> codes{};
  for (std::uint32_t most = 0; most < 256; ++most) {
    codes[most] = static_cast<std::uint8_t>(narrow_code_of(most));
  }
  return codes;
}();

// The numbers that a code stands for, and others computed from them.
struct Digits {
  std::uint32_t radix, row_bits, bias, reciprocal;
};

inline constexpr auto kDigits = [] {
  std::array<Digits, kCodes> digits{};
  for (std::uint32_t code = 0; code < kCodes; ++code) {
    const Radix radix = radix_of(code);
    digits[code] = {radix.radix, radix.row_bits, radix.bias(), radix.reciprocal()};
  }
  return digits;
}();

// ---- What residuals take ----

// Arguments are values, not references: compilers take that for one instruction.
constexpr std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }

// The largest fold of the four residuals that are kPitch apart.
template <int kPitch>
inline std::uint32_t most_of_four(const std::uint32_t* at) {
  const auto folded = [&](int j) { return fold(static_cast<std::int32_t>(at[j * kPitch])); };
  return larger(larger(folded(0), folded(1)), larger(folded(2), folded(3)));
}

// The largest fold of every tile.
template <int kRank>
inline void find_most(const Indices& residuals, const IndexBox<kRank>& box,
                      std::array<std::uint32_t, kTiles>& most) {
  using Box = IndexBox<kRank>;
  // The most of every column of four values, side by side.
  std::array<std::uint32_t, kTiles * kRowValues> columns;
  std::uint32_t* column = columns.data();
  constexpr int kBand = kTileRows * Box::kTileRowsPitch;
  for (int band = 0; band < box.slots; band += kBand) {
    for (int x = 0; x < Box::kTileRowsPitch; ++x) {
      column[x] = most_of_four<Box::kTileRowsPitch>(&residuals[band + x]);
    }
    column += Box::kTileRowsPitch;
  }
  for (int tile = 0; tile < box.tiles; ++tile) {
    const std::uint32_t* const four = &columns[tile * kRowValues];
    most[tile] = larger(larger(four[0], four[1]), larger(four[2], four[3]));
  }
}

// The code of every tile, and their rows' bits in all, for four rows a tile.
template <int kRank>
inline std::uint32_t find_codes(const Indices& residuals, const IndexBox<kRank>& box,
                                Codes& codes) {
  std::array<std::uint32_t, kTiles> most;
  find_most(residuals, box, most);
  codes.fill(0);
  std::uint32_t bits = 0;
  for (int tile = 0; tile < box.tiles; ++tile) {
    // Both, and no branch on the data.
    const std::uint32_t narrow = kNarrowCodes[std::min(most[tile], 255u)];
    const std::uint32_t wide = wide_code_of(most[tile] | 256);
    const std::uint32_t code = most[tile] < 256 ? narrow : wide;
    codes[tile] = static_cast<std::uint8_t>(code);
    bits += kDigits[code].row_bits;
  }
  return bits;
}

// ---- As bits ----

inline constexpr std::uint64_t kOnes = 0x0101010101010101u;

// The lowest bits of eight bytes, those of the first byte the lowest.
constexpr std::uint32_t gather_bits(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes & kOnes) * 0x0102040810204080u >> 56);
}

// Undoes it, for eight bits.
constexpr std::uint64_t spread_bits(std::uint32_t bits) {
  const std::uint64_t each = (std::uint64_t{bits} * kOnes) & 0x8040201008040201u;
  return (each + 0x7F * kOnes) >> 7 & kOnes;
}

inline void write_codes(const Head& head, const Codes& codes, Writer& writer) {
  for (int group = 0; group < kGroups; ++group) {
    if ((head.groups >> group & 1) == 0) continue;
    std::array<std::uint64_t, kGroupTiles / 8> bytes;
    std::memcpy(bytes.data(), &codes[group * kGroupTiles], kGroupTiles);
    for (std::uint32_t plane = 0; plane < head.code_bits; ++plane) {
      std::uint32_t word = 0;
      for (int part = 0; part < kGroupTiles / 8; ++part) {
        word |= gather_bits(bytes[part] >> plane) << (8 * part);
      }
      writer.word(word);
    }
  }
}

// Reads the codes; the words that the digits take.
inline std::uint64_t read_codes(const Head& head, Reader& reader, Codes& codes) {
  codes.fill(0);
  std::uint64_t bits = 0;
  for (int group = 0; group < kGroups; ++group) {
    if ((head.groups >> group & 1) == 0) continue;
    std::array<std::uint64_t, kGroupTiles / 8> bytes{};
    for (std::uint32_t plane = 0; plane < head.code_bits; ++plane) {
      const std::uint32_t word = reader.word();
      for (int part = 0; part < kGroupTiles / 8; ++part) {
        bytes[part] |= spread_bits(word >> (8 * part) & 0xFF) << plane;
      }
    }
    std::memcpy(&codes[group * kGroupTiles], bytes.data(), kGroupTiles);
    for (int lane = 0; lane < kGroupTiles; ++lane) {
      bits += kTileRows * kDigits[codes[group * kGroupTiles + lane]].row_bits;
    }
  }
  return ceil_div(bits, 32);
}

}  // namespace thinwire::codec::szp
