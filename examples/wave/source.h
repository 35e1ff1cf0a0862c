// A point source with a Ricker wavelet.
#pragma once

#include "slab.h"

namespace wave {

struct Source {
  int x = 0;
  int y = 0;
  int z = 0;  // global indices
};

// A shot near the surface, above the middle of the grid.
Source place_source(const Slab& grid);

// The wavelet at `seconds` after the start, its peak 1.
float ricker(double seconds);

}  // namespace wave
