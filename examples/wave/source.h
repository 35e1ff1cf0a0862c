// Point sources with a Ricker wavelet.
#pragma once

#include <vector>

#include "slab.h"

namespace wave {

struct Source {
  int x = 0;
  int y = 0;
  int z = 0;         // global indices
  double onset = 0;  // seconds after the start
};

// `across` x `across` shots at one depth, spread evenly and fired one shortly after another, as in
// a blended survey; a single one lies below the middle of the surface.
std::vector<Source> place_sources(const Slab& grid, int across);

// The wavelet at `seconds` after its onset, its peak 1.
float ricker(double seconds);

}  // namespace wave
