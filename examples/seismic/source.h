// A point source: a moment tensor whose rate is a Gaussian in time.
#pragma once

#include <cstddef>
#include <vector>

#include "medium.h"
#include "part.h"

namespace seismic {

enum class Mechanism {
  kExplosion,   // Mxx = Myy = Mzz
  kStrikeSlip,  // Mxy: a vertical fault along x, moved sideways
  kThrust,      // Mzz = -Mxx: a fault that dips by 45 degrees, moved upwards
};

struct Source {
  Mechanism mechanism = Mechanism::kThrust;
  Extents at;            // the point of normal stresses, global
  double moment = 1e16;  // newton metres
};

// A share of the source in one value of one field.
struct Shot {
  int field = 0;
  std::ptrdiff_t at = 0;
  float weight = 0;
};

// Points around the source's among which a moment is shared, along each axis.
inline constexpr int kSpread = 2;

// Amounts that this part adds to its stresses: field[at] += weight * moment_rate(step). No two are
// at one place.
std::vector<Shot> make_shots(const Source& source, const Model& model, const Part& part);

// The rate of a moment of 1, for steps 1 to `steps`, in the middle of each, times the time step. It
// is exp(-(t - t0)^2 / (2 s^2)) / (s sqrt(2 pi)), s = 1 / (4 hertz), t0 = 6 s.
std::vector<float> moment_rate(const Model& model, int steps);

}  // namespace seismic
