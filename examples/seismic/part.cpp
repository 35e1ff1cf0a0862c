#include "part.h"

namespace seismic {
namespace {

bool divides(const Extents& grid, const Extents& split) {
  const auto fits = [](int points, int parts) {
    return points % parts == 0 && points / parts >= kHalo;
  };
  return fits(grid.x, split.x) && fits(grid.y, split.y) && fits(grid.z, split.z);
}

// The most that a part sends.
double surface(const Extents& grid, const Extents& split) {
  const double x = static_cast<double>(grid.x) / split.x;
  const double y = static_cast<double>(grid.y) / split.y;
  const double z = static_cast<double>(grid.z) / split.z;
  return (split.x > 1 ? y * z : 0) + (split.y > 1 ? x * z : 0) + (split.z > 1 ? x * y : 0);
}

std::string written(const Extents& extents) {
  return std::to_string(extents.z) + "x" + std::to_string(extents.y) + "x" +
         std::to_string(extents.x);
}

bool check_split(const Extents& grid, int ranks, const Extents& split, std::string* error) {
  if (split.points() != ranks) {
    *error = "--split " + written(split) + " makes " + std::to_string(split.points()) +
             " parts, and there are " + std::to_string(ranks) + " ranks";
  } else if (!divides(grid, split)) {
    *error = "--split " + written(split) + " does not divide a grid of " + written(grid) +
             " into equal parts of at least 2 points along each axis";
  }
  return error->empty();
}

}  // namespace

bool choose_split(const Extents& grid, int ranks, Extents* split, std::string* error) {
  if (split->points() != 0) return check_split(grid, ranks, *split, error);
  double least = 0;
  for (int z = 1; z <= ranks; ++z) {
    for (int y = 1; ranks % z == 0 && y <= ranks / z; ++y) {
      if (ranks / z % y != 0) continue;
      const Extents one{ranks / z / y, y, z};
      if (!divides(grid, one)) continue;
      const double area = surface(grid, one);
      if (split->points() != 0 && area >= least) continue;
      least = area;
      *split = one;
    }
  }
  if (split->points() != 0) return true;
  *error = "a grid of " + written(grid) + " does not divide into equal parts for " +
           std::to_string(ranks) + " ranks";
  return false;
}

Part make_part(const Extents& grid, const Extents& split, int rank) {
  Part part;
  part.grid = grid;
  part.split = split;
  const Extents place{rank % split.x, rank / split.x % split.y, rank / (split.x * split.y)};
  part.own = {grid.x / split.x, grid.y / split.y, grid.z / split.z};
  part.first = {place.x * part.own.x, place.y * part.own.y, place.z * part.own.z};
  part.neighbours = {
      place.x > 0 ? rank - 1 : -1,
      place.x + 1 < split.x ? rank + 1 : -1,
      place.y > 0 ? rank - split.x : -1,
      place.y + 1 < split.y ? rank + split.x : -1,
      place.z > 0 ? rank - split.x * split.y : -1,
      place.z + 1 < split.z ? rank + split.x * split.y : -1,
  };
  const std::ptrdiff_t padded = kLead + part.own.x + kHalo;
  part.row = (padded + kLead - 1) / kLead * kLead;
  part.plane = part.row * (part.own.y + 2 * kHalo);
  part.volume = part.plane * (part.own.z + 2 * kHalo);
  return part;
}

Interior divide(const Part& part) {
  const auto margin = [&part](Face face) { return part.neighbours[face] < 0 ? 0 : kHalo; };
  // A part of two or three points has no inside: its rims meet.
  const auto upper = [](int extent, int low, int high) {
    return extent - high > low ? extent - high : low;
  };
  Interior divided;
  Box& in = divided.inside;
  in.begin = {margin(kWest), margin(kSouth), margin(kTop)};
  in.end = {upper(part.own.x, in.begin.x, margin(kEast)),
            upper(part.own.y, in.begin.y, margin(kNorth)),
            upper(part.own.z, in.begin.z, margin(kBottom))};
  const Extents& own = part.own;
  divided.rims[kTop] = {{0, 0, 0}, {own.x, own.y, in.begin.z}};
  divided.rims[kBottom] = {{0, 0, in.end.z}, own};
  divided.rims[kSouth] = {{0, 0, in.begin.z}, {own.x, in.begin.y, in.end.z}};
  divided.rims[kNorth] = {{0, in.end.y, in.begin.z}, {own.x, own.y, in.end.z}};
  divided.rims[kWest] = {{0, in.begin.y, in.begin.z}, {in.begin.x, in.end.y, in.end.z}};
  divided.rims[kEast] = {{in.end.x, in.begin.y, in.begin.z}, {own.x, in.end.y, in.end.z}};
  return divided;
}

namespace {

// Stresses that neighbours along an axis read: those that act on its planes.
constexpr int kTractionsOfAxis[3][kFieldsOfFace] = {
    {kXx, kXy, kXz}, {kXy, kYy, kYz}, {kXz, kYz, kZz}};
constexpr int kAllVelocities[kFieldsOfFace] = {kVx, kVy, kVz};

}  // namespace

Planes planes_at(const Part& part, Group group, Face face, bool halo) {
  const int axis = face / 2;
  const bool low = face % 2 == 0;
  const int extent = axis == 0 ? part.own.x : axis == 1 ? part.own.y : part.own.z;
  const int inside = low ? 0 : extent - kHalo;
  const int outside = low ? -kHalo : extent;
  const int first = halo ? outside : inside;
  Planes planes{};
  for (int i = 0; i < kFieldsOfFace; ++i) {
    planes.field[i] = group == kVelocities ? kAllVelocities[i] : kTractionsOfAxis[axis][i];
  }
  planes.begin = part.index(axis == 0 ? first : 0, axis == 1 ? first : 0, axis == 2 ? first : 0);
  planes.plane_step = axis == 0 ? 1 : axis == 1 ? part.row : part.plane;
  planes.row_step = axis == 2 ? part.row : part.plane;
  planes.rows = axis == 2 ? part.own.y : part.own.z;
  planes.column_step = axis == 0 ? part.row : 1;
  planes.columns = axis == 0 ? part.own.y : part.own.x;
  return planes;
}

}  // namespace seismic
