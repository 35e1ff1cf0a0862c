// A box of lattice indices on the host, as if it were not clipped: zeros fill it up.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/dtype.h"
#include "codec/szp/format.h"

namespace thinwire::codec::szp {

using Indices = std::array<std::uint32_t, kBoxValues>;

struct IndexBox {
  int planes, rows, columns;     // of the values that there are
  int plane_pitch, row_pitch;    // in Indices
  int tile_rows_pitch;           // between rows of a tile
  int tiles_across, tiles_down;  // in a row of tiles, and rows of tiles in a plane

  explicit IndexBox(const Shape& shape) {
    const auto extent = [&](int from_fastest) {
      const int axis = shape.rank - 1 - from_fastest;
      return axis < 0 ? 1 : static_cast<int>(shape.extent[static_cast<std::size_t>(axis)]);
    };
    columns = extent(0);
    rows = extent(1);
    planes = extent(2);
    const int edge = box_edge(shape.rank);
    row_pitch = edge;
    plane_pitch = shape.rank == 3 ? edge * edge : kBoxValues;
    // A line's tile is 16 values in a row.
    tile_rows_pitch = shape.rank == 1 ? kRowValues : edge;
    tiles_across = shape.rank == 1 ? kTiles : edge / kRowValues;
    tiles_down = shape.rank == 1 ? 1 : edge / kTileRows;
  }

  // Where a row of values begins.
  int row_at(int plane, int row) const { return plane * plane_pitch + row * row_pitch; }

  // Where tile `tile` begins.
  int tile_at(int tile) const {
    const int across = tile % tiles_across;
    const int down = tile / tiles_across % tiles_down;
    const int plane = tile / (tiles_across * tiles_down);
    const int width = row_pitch / tiles_across;
    return plane * plane_pitch + down * kTileRows * row_pitch + across * width;
  }

  // Which one of the values is at `at`; -1 where that is outside the box.
  int value_at(int at) const {
    const int plane = at / plane_pitch;
    const int row = at % plane_pitch / row_pitch;
    const int column = at % row_pitch;
    const bool is_inside = plane < planes && row < rows && column < columns;
    return is_inside ? (plane * rows + row) * columns + column : -1;
  }

  // Calls `f` with the begin of each row of values, in order.
  template <typename F>
  void for_rows(F f) const {
    for (int plane = 0; plane < planes; ++plane) {
      for (int row = 0; row < rows; ++row) f(row_at(plane, row));
    }
  }

  // Indices to differences along every axis; what lies outside the values stays 0.
  void difference(Indices& indices) const {
    for_rows([&](int at) {
      for (int x = columns - 1; x > 0; --x) indices[at + x] -= indices[at + x - 1];
    });
    for (int plane = 0; plane < planes; ++plane) {
      for (int row = rows - 1; row > 0; --row) subtract(indices, row_at(plane, row), row_pitch);
    }
    for (int plane = planes - 1; plane > 0; --plane) {
      for (int row = 0; row < rows; ++row) subtract(indices, row_at(plane, row), plane_pitch);
    }
  }

  // Undoes difference().
  void sum(Indices& indices) const {
    for_rows([&](int at) {
      for (int x = 1; x < columns; ++x) indices[at + x] += indices[at + x - 1];
    });
    for (int plane = 0; plane < planes; ++plane) {
      for (int row = 1; row < rows; ++row) add(indices, row_at(plane, row), row_pitch);
    }
    for (int plane = 1; plane < planes; ++plane) {
      for (int row = 0; row < rows; ++row) add(indices, row_at(plane, row), plane_pitch);
    }
  }

 private:
  void subtract(Indices& indices, int at, int back) const {
    for (int x = 0; x < columns; ++x) indices[at + x] -= indices[at + x - back];
  }
  void add(Indices& indices, int at, int back) const {
    for (int x = 0; x < columns; ++x) indices[at + x] += indices[at + x - back];
  }
};

}  // namespace thinwire::codec::szp
