// One time step of u_tt = v^2 laplacian(u): 2nd order in time, 8th order in space.
#pragma once

#include <array>
#include <vector>

#include "slab.h"

namespace wave {

// Central 8th-order weights of the second derivative, in units of 1 / spacing^2.
inline constexpr std::array<double, kRadius + 1> kLaplacian = {-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0,
                                                               8.0 / 315.0, -1.0 / 560.0};

struct Coefficients {
  std::vector<float> courant_squared;  // of the owned points
  std::vector<float> damping_x;
  std::vector<float> damping_y;
  std::vector<float> damping_z;  // of the whole axis
};

Coefficients make_coefficients(const Slab& slab);

// Overwrites the owned points of `previous` (step n-1) with step n+1, from `current` (step n). Both
// hold the owned planes with kRadius halo planes on either side. The outermost kRadius points of
// the grid stay zero. Results do not depend on how the grid is cut into slabs.
void advance(const Slab& slab, const Coefficients& coefficients, const float* current,
             float* previous);

}  // namespace wave
