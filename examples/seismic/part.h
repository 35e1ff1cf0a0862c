// Which part of the grid a rank owns, and how its arrays lie in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "examples/common/values.h"
#include "formulas.h"

namespace seismic {

inline constexpr int kHalo = 2;  // planes that a point's update reaches to either side
// Values in front of a row. The first owned one then begins a cache line of the GPU.
inline constexpr int kLead = 32;

struct Extents {
  int x = 0;
  int y = 0;
  int z = 0;

  std::int64_t points() const { return static_cast<std::int64_t>(x) * y * z; }
};

// Owned points [begin, end) of a part, in its own indices. z points down.
struct Box {
  Extents begin;
  Extents end;

  bool empty() const { return begin.x >= end.x || begin.y >= end.y || begin.z >= end.z; }
};

enum Face { kWest, kEast, kSouth, kNorth, kTop, kBottom, kFaces };

inline constexpr Face opposite(int face) { return static_cast<Face>(face ^ 1); }

struct Part {
  Extents grid;                          // of all ranks
  Extents split;                         // ranks along each axis
  Extents first;                         // global indices of the first owned point
  Extents own;                           // owned points along each axis
  std::array<int, kFaces> neighbours{};  // ranks, -1 if there is none
  // Distances between neighbours in memory, in values, and those of an array with its halos.
  std::ptrdiff_t row = 0;
  std::ptrdiff_t plane = 0;
  std::ptrdiff_t volume = 0;

  // The index of an owned point or one of the halos, in the part's indices.
  std::ptrdiff_t index(int x, int y, int z) const {
    return (z + kHalo) * plane + (y + kHalo) * row + kLead + x;
  }
  bool owns(const Extents& point) const {
    return point.x >= first.x && point.x < first.x + own.x && point.y >= first.y &&
           point.y < first.y + own.y && point.z >= first.z && point.z < first.z + own.z;
  }
  std::ptrdiff_t index_of_global(const Extents& point) const {
    return index(point.x - first.x, point.y - first.y, point.z - first.z);
  }
  Box all() const { return {{0, 0, 0}, own}; }
};

// How `ranks` ranks share the grid: `split` as it is given, or, if it is all zeros, the one of
// those that divide the grid whose parts have the least surface. False if none divides it into
// parts of at least kHalo points along each axis, with a sentence for the user.
bool choose_split(const Extents& grid, int ranks, Extents* split, std::string* error);

// Ranks count along x first, then y, then z.
Part make_part(const Extents& grid, const Extents& split, int rank);

// Points that need no halo of a neighbour, and the others, in boxes that do not overlap.
struct Interior {
  Box inside;
  std::array<Box, kFaces> rims;  // some of them empty
};
Interior divide(const Part& part);

// The planes of fields that halos are made of, and their order in a message.

enum Group { kVelocities, kTractions, kGroups };  // what neighbours need of a face

inline constexpr int kFieldsOfFace = 3;

// A message is [field][plane][row][column], columns along x if the face has an x axis.
struct Planes {
  int field[kFieldsOfFace];
  std::ptrdiff_t begin;
  std::ptrdiff_t plane_step;
  std::ptrdiff_t row_step;
  std::ptrdiff_t column_step;
  int rows;
  int columns;

  constexpr std::int64_t values() const {
    return static_cast<std::int64_t>(kFieldsOfFace) * kHalo * rows * columns;
  }
};

// The kHalo planes of a part next to a face: its own points, or the halo outside.
Planes planes_at(const Part& part, Group group, Face face, bool halo);

// The place of value `number` of a message: which field, and the index in it.
struct PlaceOfValue {
  int field;
  std::ptrdiff_t at;
};
SEISMIC_HOST_DEVICE PlaceOfValue place_of(const Planes& planes, std::int64_t number) {
  const std::int64_t row = number / planes.columns;
  const std::int64_t plane = row / planes.rows;
  const std::ptrdiff_t at = planes.begin + plane % kHalo * planes.plane_step +
                            row % planes.rows * planes.row_step +
                            number % planes.columns * planes.column_step;
  return {planes.field[plane / kHalo], at};
}

// A print of the value of a field at a global point, for Solver::fingerprint().
SEISMIC_HOST_DEVICE std::uint64_t print_of(const Extents& grid, const Extents& point, int field,
                                           std::uint32_t bits) {
  const std::int64_t at =
      (static_cast<std::int64_t>(point.z) * grid.y + point.y) * grid.x + point.x;
  return examples::mix(examples::mix(static_cast<std::uint64_t>(at) * kWaveFields + field + 1) +
                       bits);
}

}  // namespace seismic
