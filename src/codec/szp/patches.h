// Values that are stored as they are, on the host.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "codec/szp/core.h"
#include "codec/szp/index_box.h"
#include "codec/szp/reader.h"
#include "codec/szp/writer.h"

namespace thinwire::codec::szp {

// The mask of each tile: bit p is 1 if its value p is stored.
using Masks = std::array<std::uint16_t, kTiles>;

// A byte each, 1 if the value must be stored.
template <typename Value>
inline void find_stored(const std::byte* source, int count, Lattice<Value> lattice,
                        std::uint8_t* is_stored) {
  // Words as wide as a value first: it is what compilers make vectors of.
  std::array<BitsOf<Value>, kBoxValues> stored;
  for (int x = 0; x < count; ++x) {
    stored[x] = 1 ^ quantise(load<Value>(source + x * sizeof(Value)), lattice).is_bounded;
  }
  for (int x = 0; x < count; ++x) is_stored[x] = static_cast<std::uint8_t>(stored[x]);
}

// Which values must be stored.
template <typename Value, int kRank>
inline void find_patches(const std::byte* source, const IndexBox<kRank>& box,
                         const Lattice<Value>& lattice, Masks& masks) {
  std::array<std::uint8_t, kBoxValues> is_stored;
  if (box.is_clipped()) std::fill_n(is_stored.data(), box.slots, 0);
  box.for_runs([&](int at, int count) {
    find_stored(source, count, lattice, &is_stored[at]);
    source += count * sizeof(Value);
  });
  masks.fill(0);
  for (int tile = 0; tile < box.tiles; ++tile) {
    std::uint32_t mask = 0;
    for (int j = 0; j < kTileRows; ++j) {
      std::uint32_t row;
      std::memcpy(&row, &is_stored[box.place_at(tile, j * kRowValues)], sizeof row);
      // The lowest bits of four bytes, side by side.
      mask |= (row * 0x01020408u >> 24 & 0xF) << (j * kRowValues);
    }
    masks[tile] = static_cast<std::uint16_t>(mask);
  }
}

template <typename Value>
inline std::uint64_t patch_bytes(const Masks& masks) {
  std::uint64_t tiles = 0;
  std::uint64_t values = 0;
  for (const std::uint16_t mask : masks) {
    tiles += mask != 0;
    values += static_cast<std::uint64_t>(std::popcount(mask));
  }
  return kTiles / 8 + (tiles + 1) / 2 * 4 + values * sizeof(Value);
}

template <typename Value, int kRank>
inline void write_patches(const std::byte* source, const IndexBox<kRank>& box, const Masks& masks,
                          Writer& writer) {
  for (int group = 0; group < kGroups; ++group) {
    std::uint32_t word = 0;
    for (int lane = 0; lane < kGroupTiles; ++lane) {
      word |= std::uint32_t{masks[group * kGroupTiles + lane] != 0} << lane;
    }
    writer.word(word);
  }
  for (const std::uint16_t mask : masks) {
    if (mask != 0) writer.bits(mask, kTileValues);
  }
  writer.end_word();
  for (int tile = 0; tile < kTiles; ++tile) {
    for (unsigned left = masks[tile]; left != 0; left &= left - 1) {
      const int index = box.value_at(box.place_at(tile, std::countr_zero(left)));
      writer.value(load<BitsOf<Value>>(source + index * sizeof(Value)));
    }
  }
}

// Puts stored values in their places in `out`; false if the payload's end is not theirs.
template <typename Value, int kRank>
inline bool read_patches(const IndexBox<kRank>& box, Reader& reader, std::byte* out) {
  if (reader.left() < kTiles / 8) return false;
  std::array<std::uint32_t, kGroups> tiles;
  std::uint64_t count = 0;
  for (std::uint32_t& word : tiles) {
    word = reader.word();
    count += static_cast<std::uint64_t>(std::popcount(word));
  }
  const std::uint64_t mask_bytes = (count + 1) / 2 * 4;
  if (reader.left() < mask_bytes) return false;
  const std::byte* mask_at = reader.take(mask_bytes).data();
  std::uint64_t values = 0;
  for (std::uint64_t at = 0; at < count; ++at) {
    values += static_cast<std::uint64_t>(std::popcount(load<std::uint16_t>(mask_at + 2 * at)));
  }
  if (reader.left() != values * sizeof(Value)) return false;
  const std::byte* stored = reader.take(values * sizeof(Value)).data();
  for (int tile = 0; tile < kTiles; ++tile) {
    if ((tiles[tile / kGroupTiles] >> tile % kGroupTiles & 1) == 0) continue;
    for (unsigned left = load<std::uint16_t>(mask_at); left != 0; left &= left - 1) {
      const int index = box.value_at(box.place_at(tile, std::countr_zero(left)));
      if (index >= 0) std::memcpy(out + index * sizeof(Value), stored, sizeof(Value));
      stored += sizeof(Value);
    }
    mask_at += 2;
  }
  return true;
}

}  // namespace thinwire::codec::szp
