// A box of lattice indices on the host, each where it would be if the box were not clipped. Zeros
// fill the tiles up.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/dtype.h"
#include "codec/szp/format.h"

namespace thinwire::codec::szp {

using Indices = std::array<std::uint32_t, kBoxValues>;

// Pitches are constants: tiles are found without divisions, and loops become vectors.
template <int kRank>
struct IndexBox {
  static constexpr int kEdge = box_edge(kRank);
  static constexpr int kRowPitch = kEdge;
  static constexpr int kPlanePitch = kRank == 3 ? kEdge * kEdge : kBoxValues;
  // Between rows of a tile; a line's tile is 16 values in a row.
  static constexpr int kTileRowsPitch = kRank == 1 ? kRowValues : kEdge;

  int planes, rows, columns;  // of the values that there are
  int tiles, slots;           // up to the last tile that has some, and indices up to there

  explicit IndexBox(const Shape& shape) {
    const auto extent = [&](int from_fastest) {
      const int axis = kRank - 1 - from_fastest;
      return axis < 0 ? 1 : static_cast<int>(shape.extent[static_cast<std::size_t>(axis)]);
    };
    columns = extent(0);
    rows = extent(1);
    planes = extent(2);
    constexpr int kPlaneTiles = kEdge * kEdge / kTileValues;
    tiles = kRank == 1   ? (columns + kTileValues - 1) / kTileValues
            : kRank == 2 ? (rows + kTileRows - 1) / kTileRows * (kEdge / kRowValues)
                         : planes * kPlaneTiles;
    slots = tiles * kTileValues;
  }

  bool is_clipped() const { return planes * rows * columns < kBoxValues; }

  // The position at which tile `tile` begins.
  static constexpr int tile_at(int tile) {
    constexpr int kAcross = kRank == 1 ? kTiles : kEdge / kRowValues;
    constexpr int kDown = kRank == 1 ? 1 : kEdge / kTileRows;
    const auto at = static_cast<unsigned>(tile);
    const unsigned across = at % kAcross, down = at / kAcross % kDown,
                   plane = at / (kAcross * kDown);
    return static_cast<int>(plane * kPlanePitch + down * kTileRows * kRowPitch +
                            across * (kRowPitch / kAcross));
  }

  // The position of the value `place` of a tile.
  static constexpr int place_at(int tile, int place) {
    return tile_at(tile) + place / kRowValues * kTileRowsPitch + place % kRowValues;
  }

  // The number of the value at position `at`; -1 outside the box.
  int value_at(int at) const {
    const auto place = static_cast<unsigned>(at);
    const int plane = static_cast<int>(place / kPlanePitch);
    const int row = static_cast<int>(place % kPlanePitch / kRowPitch);
    const int column = static_cast<int>(place % kRowPitch);
    const bool is_inside = plane < planes && row < rows && column < columns;
    return is_inside ? (plane * rows + row) * columns + column : -1;
  }

  // Calls `f` with the begin and the length of each run of values, in their order: rows, or what
  // whole rows and planes make together.
  template <typename F>
  void for_runs(F f) const {
    if (columns < kRowPitch) {
      for (int plane = 0; plane < planes; ++plane) {
        for (int row = 0; row < rows; ++row) f(plane * kPlanePitch + row * kRowPitch, columns);
      }
    } else if (kRank == 3 && rows < kEdge) {
      for (int plane = 0; plane < planes; ++plane) f(plane * kPlanePitch, rows * columns);
    } else {
      f(0, planes * rows * columns);
    }
  }

  // Differences of `indices` along every axis; what lies outside the values becomes 0.
  void difference(const Indices& indices, Indices& differences) const {
    Indices between;
    if constexpr (kRank == 1) {
      subtract<1, kRowPitch>(indices, differences);
    } else if constexpr (kRank == 2) {
      subtract<1, kRowPitch>(indices, between);
      subtract<kRowPitch, kPlanePitch>(between, differences);
    } else {
      subtract<1, kRowPitch>(indices, differences);
      subtract<kRowPitch, kPlanePitch>(differences, between);
      subtract<kPlanePitch, kBoxValues>(between, differences);
    }
    if (is_clipped()) clear_outside(differences);
  }

  // Undoes difference(), but for what lies outside the values, where each four in a row are summed
  // up among themselves already.
  void sum(Indices& indices) const {
    if constexpr (kRank == 3) add<kPlanePitch>(indices.data(), slots);
    if constexpr (kRank > 1) {
      for (int plane = 0; plane < slots; plane += kPlanePitch) {
        add<kRowPitch>(&indices[plane], std::min(kPlanePitch, slots - plane));
      }
    }
    sum_rows(indices);
  }

 private:
  // Subtracts from each value the one kPitch before it, but for the first ones of every kPeriod.
  // One loop goes over everything, as that is vectorised; the first ones are put right after it.
  template <int kPitch, int kPeriod>
  void subtract(const Indices& from, Indices& to) const {
    for (int at = kPitch; at < slots; ++at) to[at] = from[at] - from[at - kPitch];
    for (int first = 0; first < slots; first += kPeriod) {
      for (int at = first; at < first + kPitch; ++at) to[at] = from[at];
    }
  }

  template <int kPitch>
  static void add(std::uint32_t* values, int count) {
    for (int at = kPitch; at < count; ++at) values[at] += values[at - kPitch];
  }

  void sum_rows(Indices& indices) const {
    std::array<std::uint32_t, kBoxValues / kRowValues> before;  // of each four
    for (int row = 0; row < slots; row += kRowPitch) {
      const int end = std::min(row + kRowPitch, slots);
      std::uint32_t sum = 0;
      for (int at = row; at < end; at += kRowValues) {
        before[at / kRowValues] = sum;
        sum += indices[at + kRowValues - 1];
      }
    }
    for (int four = 0; four < slots / kRowValues; ++four) {
      for (int k = 0; k < kRowValues; ++k) indices[four * kRowValues + k] += before[four];
    }
  }

  void clear_outside(Indices& indices) const {
    for (int row = 0; row < slots; row += kRowPitch) {
      const int end = std::min(row + kRowPitch, slots);
      const bool has_values = row % kPlanePitch / kRowPitch < rows;
      for (int at = row + (has_values ? columns : 0); at < end; ++at) indices[at] = 0;
    }
  }
};

}  // namespace thinwire::codec::szp
