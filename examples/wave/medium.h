// The medium of the waves: velocities, the time step that they allow, and the absorbing rim.
#pragma once

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

}  // namespace wave
