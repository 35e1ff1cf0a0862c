// The medium of the waves: velocities, the time step that they allow, and the absorbing rim.
#pragma once

#include <cstddef>
#include <vector>

#include "slab.h"

namespace wave {

inline constexpr double kSpacing = 10.0;  // grid spacing in metres, the same on every axis

// Velocity in m/s at a global grid point: four dipping layers, cut by a thrust fault above which
// they lie higher.
float velocity(const Slab& grid, int x, int y, int z);

// Seconds: 80% of the largest stable step of this scheme in the fastest layer.
double time_step();

// (velocity * time step / spacing)^2 of the owned points.
std::vector<float> courant_squared(const Slab& slab);

// Damping factors per axis for Cerjan's sponge: 1 inside, falling towards both ends.
std::vector<float> sponge(int extent);

// Point sources with a Ricker wavelet.

// Amounts that one rank adds to its part of the field, a value a source in every step.
struct Shots {
  std::vector<std::size_t> points;  // in the padded slab, all different
  std::vector<float> amplitudes;    // [steps][points]

  // Amplitudes of step `step`, the first being 1.
  const float* amplitudes_of(int step) const {
    return amplitudes.data() + static_cast<std::size_t>(step - 1) * points.size();
  }
};

// Makes those of the grid's `across` x `across` shots that lie in the slab, for steps 1 to `steps`.
// They are at one depth, spread evenly and fired one shortly after another, as in a blended survey;
// a single one lies below the middle of the surface.
Shots make_shots(const Slab& slab, int across, int steps);

}  // namespace wave
