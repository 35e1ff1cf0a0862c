// Point sources with a Ricker wavelet.
#pragma once

#include <cstddef>
#include <vector>

#include "slab.h"

namespace wave {

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
