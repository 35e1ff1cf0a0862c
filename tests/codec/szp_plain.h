// A plain reading of spec/codec-szp.md: value by value, every bit moved one at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "codec/codec.h"
#include "codec/szp/core.h"
#include "codec/szp/format.h"

namespace thinwire::codec::testing {

using PlainIndices = std::vector<std::uint32_t>;

// Position of tile t, place 4 j + k, in a box that is not clipped: plane, row and column.
inline std::array<int, 3> plain_place(int rank, int tile, int place) {
  const int j = place / 4, k = place % 4;
  if (rank == 1) return {0, 0, 16 * tile + 4 * j + k};
  if (rank == 2) return {0, tile / 16 * 4 + j, tile % 16 * 4 + k};
  return {tile / 16, tile / 4 % 4 * 4 + j, tile % 4 * 4 + k};
}

// A chunk's box, and its 4096 indices in order of tiles.
struct PlainBox {
  int rank;
  std::array<int, 3> extent{1, 1, 1};

  explicit PlainBox(const Shape& shape) : rank(shape.rank) {
    for (int axis = 0; axis < rank; ++axis) {
      extent[static_cast<std::size_t>(3 - rank + axis)] =
          static_cast<int>(shape.extent[static_cast<std::size_t>(axis)]);
    }
  }

  // Which of the chunk's values is there; -1 if there is none.
  int value_at(const std::array<int, 3>& at) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (at[axis] < 0 || at[axis] >= extent[axis]) return -1;
    }
    return (at[0] * extent[1] + at[1]) * extent[2] + at[2];
  }

  template <typename F>
  void for_places(F f) const {
    for (int tile = 0; tile < szp::kTiles; ++tile) {
      for (int place = 0; place < szp::kTileValues; ++place) {
        f(tile * szp::kTileValues + place, value_at(plain_place(rank, tile, place)));
      }
    }
  }

  // Along one axis; `values` are those of the chunk.
  void walk(PlainIndices& values, std::size_t axis, bool adds) const {
    const PlainIndices before = values;
    for (int z = 0; z < extent[0]; ++z) {
      for (int y = 0; y < extent[1]; ++y) {
        for (int x = 0; x < extent[2]; ++x) {
          std::array<int, 3> at{z, y, x};
          const auto here = static_cast<std::size_t>(value_at(at));
          --at[axis];
          const int there = value_at(at);
          if (there < 0) continue;
          const auto from = static_cast<std::size_t>(there);
          values[here] = adds ? values[here] + values[from] : before[here] - before[from];
        }
      }
    }
  }
};

class PlainDigits {
 public:
  void put(std::uint64_t value, std::uint32_t count) {
    for (std::uint32_t bit = 0; bit < count; ++bit) bits_.push_back((value >> bit & 1) != 0);
  }
  void end_word() { bits_.resize((bits_.size() + 31) / 32 * 32); }
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> bytes(bits_.size() / 8);
    for (std::size_t at = 0; at < bits_.size(); ++at) {
      bytes[at / 8] |= static_cast<std::byte>(bits_[at] ? 1 << at % 8 : 0);
    }
    return bytes;
  }

 private:
  std::vector<bool> bits_;
};

template <typename Value>
bool plain_quantise(Value value, const szp::Lattice<Value>& lattice, std::uint32_t& index) {
  const Value place = value * lattice.inverse;
  index = 0;
  if (!(std::fabs(place) < szp::ValueTraits<Value>::kLimit)) return false;
  const auto nearest = static_cast<std::int32_t>(std::nearbyint(place));
  index = static_cast<std::uint32_t>(nearest);
  return std::fabs(value - static_cast<Value>(nearest) * lattice.step) <= lattice.half;
}

inline std::uint32_t plain_code(const std::uint32_t* tile) {
  for (std::uint32_t code = 0;; ++code) {
    const std::int64_t radix = code == 31 ? std::int64_t{1} << 32 : szp::radix_of(code).radix;
    const bool holds = std::all_of(tile, tile + szp::kTileValues, [&](std::uint32_t residual) {
      const auto number = static_cast<std::int32_t>(residual);
      return -(radix / 2) <= number && number < radix - radix / 2;
    });
    if (holds) return code;
  }
}

inline void plain_digits(const std::uint32_t* tile, std::uint32_t code, PlainDigits& bits) {
  const szp::Radix radix = szp::radix_of(code);
  for (int row = 0; row < 4; ++row) {
    __extension__ unsigned __int128 number = 0, unit = 1;
    for (int k = 0; k < 4; ++k) {
      number += unit * (tile[4 * row + k] + radix.bias());
      unit *= code == 31 ? std::uint64_t{1} << 32 : radix.radix;
    }
    bits.put(static_cast<std::uint64_t>(number), std::min(radix.row_bits, 64u));
    if (radix.row_bits > 64) {
      bits.put(static_cast<std::uint64_t>(number >> 64), radix.row_bits - 64);
    }
  }
}

// Without the payloads of constant chunks, those of no words and raw ones: `is_whole` is false
// there.
template <typename Value>
std::vector<std::byte> plain_payload(const std::vector<Value>& values, const Shape& shape,
                                     const szp::Lattice<Value>& lattice, bool& is_whole) {
  const PlainBox box(shape);
  PlainIndices plain(values.size());
  std::vector<bool> stored(values.size());
  for (std::size_t at = 0; at < values.size(); ++at) {
    stored[at] = !plain_quantise(values[at], lattice, plain[at]);
  }
  const std::uint32_t corner = plain[0];
  PlainIndices differences = plain;
  for (std::size_t axis = 0; axis < 3; ++axis) box.walk(differences, axis, false);

  std::array<PlainIndices, 2> tiled;
  std::array<std::array<std::uint32_t, szp::kTiles>, 2> codes;
  std::array<std::uint32_t, 2> row_bits{};
  std::vector<std::uint16_t> masks(szp::kTiles);
  for (std::size_t way = 0; way < 2; ++way) {
    PlainIndices& residuals = way == 0 ? plain : differences;
    residuals[0] = 0;
    tiled[way].resize(szp::kBoxValues);
    box.for_places([&](int at, int value) {
      if (value < 0) return;
      tiled[way][static_cast<std::size_t>(at)] = residuals[static_cast<std::size_t>(value)];
      if (stored[static_cast<std::size_t>(value)]) {
        masks[static_cast<std::size_t>(at / 16)] |= static_cast<std::uint16_t>(1u << at % 16);
      }
    });
    for (std::size_t tile = 0; tile < szp::kTiles; ++tile) {
      codes[way][tile] = plain_code(&tiled[way][tile * 16]);
      row_bits[way] += szp::radix_of(codes[way][tile]).row_bits;
    }
  }
  const std::size_t way = row_bits[1] <= row_bits[0] ? 1 : 0;
  const bool has_patches = std::find(stored.begin(), stored.end(), true) != stored.end();

  szp::Head head{0, 0, way == 1, has_patches, false};
  for (std::uint32_t tile = 0; tile < szp::kTiles; ++tile) {
    head.groups |= std::uint32_t{codes[way][tile] != 0} << tile / 32;
    head.code_bits = std::max(head.code_bits, szp::bit_width(codes[way][tile]));
  }
  PlainDigits bits;
  bits.put(head.word(), 32);
  bits.put(corner, 32);
  for (std::uint32_t group = 0; group < szp::kGroups; ++group) {
    for (std::uint32_t bit = 0; (head.groups >> group & 1) != 0 && bit < head.code_bits; ++bit) {
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        bits.put(codes[way][group * 32 + lane] >> bit, 1);
      }
    }
  }
  for (std::size_t tile = 0; tile < szp::kTiles; ++tile) {
    if (codes[way][tile] != 0) plain_digits(&tiled[way][tile * 16], codes[way][tile], bits);
  }
  bits.end_word();
  if (has_patches) {
    for (const std::uint16_t mask : masks) bits.put(mask != 0, 1);
    for (const std::uint16_t mask : masks) bits.put(mask, mask != 0 ? 16 : 0);
    bits.end_word();
    box.for_places([&](int at, int value) {
      if ((masks[static_cast<std::size_t>(at / 16)] >> at % 16 & 1) == 0) return;
      bits.put(szp::to_bits(values[static_cast<std::size_t>(value)]), 8 * sizeof(Value));
    });
  }
  const bool is_constant =
      has_patches && stored[0] && std::all_of(values.begin(), values.end(), [&](Value value) {
        return szp::to_bits(value) == szp::to_bits(values[0]);
      });
  auto bytes = bits.bytes();
  const bool is_nothing = head.groups == 0 && corner == 0 && !has_patches;
  is_whole = !is_constant && !is_nothing && bytes.size() < values.size() * sizeof(Value);
  return bytes;
}

// Returns the values after the lattice and the patches.
template <typename Value>
std::vector<Value> plain_decoded(const std::vector<Value>& values,
                                 const szp::Lattice<Value>& lattice) {
  std::vector<Value> decoded;
  for (const Value value : values) {
    std::uint32_t index = 0;
    const bool is_near = plain_quantise(value, lattice, index);
    const auto number = static_cast<Value>(static_cast<std::int32_t>(index));
    decoded.push_back(is_near ? number * lattice.step : value);
  }
  return decoded;
}

}  // namespace thinwire::codec::testing
