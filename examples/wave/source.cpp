#include "source.h"

#include <cmath>
#include <numbers>

namespace wave {
namespace {

constexpr double kPeakHertz = 20.0;
// Late enough for the wavelet to begin at less than 1e-4 of its peak.
constexpr double kDelay = 1.2 / kPeakHertz;

}  // namespace

Source place_source(const Slab& grid) { return {grid.nx / 2, grid.ny / 2, grid.nz * 3 / 10}; }

float ricker(double seconds) {
  const double phase = std::numbers::pi * kPeakHertz * (seconds - kDelay);
  return static_cast<float>((1.0 - 2.0 * phase * phase) * std::exp(-phase * phase));
}

}  // namespace wave
