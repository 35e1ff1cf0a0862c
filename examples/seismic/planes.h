// The planes of fields that halos are made of, and their order in a message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "examples/common/random.h"
#include "formulas.h"
#include "part.h"

namespace seismic {

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
