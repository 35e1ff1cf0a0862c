#include "source.h"

#include <cmath>
#include <numbers>

namespace wave {
namespace {

constexpr double kPeakHertz = 20.0;
// Late enough for the wavelet to begin at less than 1e-4 of its peak.
constexpr double kDelay = 1.2 / kPeakHertz;
constexpr double kInterval = 0.1 / kPeakHertz;

}  // namespace

std::vector<Source> place_sources(const Slab& grid, int across) {
  std::vector<Source> sources;
  for (int row = 0; row < across; ++row) {
    for (int column = 0; column < across; ++column) {
      // Neighbours differ, so that their fronts do not meet in step.
      const double onset = kInterval * ((3 * row + 5 * column) % 7);
      sources.push_back({(2 * column + 1) * grid.nx / (2 * across),
                         (2 * row + 1) * grid.ny / (2 * across), grid.nz * 2 / 5, onset});
    }
  }
  return sources;
}

float ricker(double seconds) {
  const double phase = std::numbers::pi * kPeakHertz * (seconds - kDelay);
  return static_cast<float>((1.0 - 2.0 * phase * phase) * std::exp(-phase * phase));
}

}  // namespace wave
