#include "planes.h"

namespace seismic {
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
