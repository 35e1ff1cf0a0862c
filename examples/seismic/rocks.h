// Places of the rocks, on the CPU and on a GPU, and their coefficients of a step.
#pragma once

#include <cmath>
#include <cstddef>

#include "attenuation.h"
#include "formulas.h"
#include "part.h"

namespace seismic {

enum class Medium {
  kBasin,    // a bowl of layered sediments in layered bedrock
  kUniform,  // one rock
};

inline constexpr int kRocks = 6;  // at most, of a medium

// As formulas.h, Rock, has them; losses by mechanism().
struct Coefficients {
  float buoyancy;
  float p_modulus;
  float compliance;
  float p_loss[kMechanisms];
  float s_loss[kMechanisms];
};

struct RockTable {
  Coefficients rock[kRocks];
};

// The arrays of a part with its halos, as Part::index() has them.
struct RockArrays {
  float* buoyancy;
  float* p_modulus;
  float* compliance;
  float* p_loss;
  float* s_loss;
};

// Which of the basin's rocks, from soft to hard; coordinates are shares of the grid.
SEISMIC_HOST_DEVICE int basin_rock(double east, double north, double down) {
  const double a = (east - 0.5) / 0.38;
  const double b = (north - 0.45) / 0.34;
  const double bowl = 1 - a * a - b * b;  // above zero inside the basin's rim
  const double floor = bowl > 0 ? 0.4 * std::sqrt(bowl) : 0;
  if (down < floor) return down < 0.08 ? 0 : down < 0.2 ? 1 : 2;
  // Bedrock dips to the east.
  const double depth = down - 0.1 * (east - 0.5);
  return depth < 0.3 ? 3 : depth < 0.65 ? 4 : 5;
}

SEISMIC_HOST_DEVICE double share_of_axis(int at, int points) {
  const int inside = at < 0 ? 0 : at < points ? at : points - 1;
  return inside / static_cast<double>(points);
}

// At a global point; outside of the grid the rock of its rim goes on.
SEISMIC_HOST_DEVICE int rock_at(Medium medium, const Extents& grid, const Extents& point) {
  if (medium == Medium::kUniform) return 0;
  return basin_rock(share_of_axis(point.x, grid.x), share_of_axis(point.y, grid.y),
                    share_of_axis(point.z, grid.z));
}

SEISMIC_HOST_DEVICE void lay_rock(const RockTable& table, Medium medium, const Extents& grid,
                                  const Extents& point, std::ptrdiff_t at,
                                  const RockArrays& arrays) {
  const Coefficients& rock = table.rock[rock_at(medium, grid, point)];
  const int own = mechanism(point.x, point.y, point.z);
  arrays.buoyancy[at] = rock.buoyancy;
  arrays.p_modulus[at] = rock.p_modulus;
  arrays.compliance[at] = rock.compliance;
  arrays.p_loss[at] = rock.p_loss[own];
  arrays.s_loss[at] = rock.s_loss[own];
}

}  // namespace seismic
