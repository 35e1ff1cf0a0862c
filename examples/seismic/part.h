// Which part of the grid a rank owns, and how its arrays lie in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

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

}  // namespace seismic
