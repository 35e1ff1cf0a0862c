#include "source.h"

#include <cmath>
#include <numbers>

#include "medium.h"

namespace wave {
namespace {

constexpr double kPeakHertz = 20.0;
// Late enough for the wavelet to begin at less than 1e-4 of its peak.
constexpr double kDelay = 1.2 / kPeakHertz;
constexpr double kInterval = 0.1 / kPeakHertz;

struct Source {
  int x = 0;
  int y = 0;
  int z = 0;         // global indices
  double onset = 0;  // seconds after the start
};

// The wavelet at `seconds` after its onset, its peak 1.
float ricker(double seconds) {
  const double phase = std::numbers::pi * kPeakHertz * (seconds - kDelay);
  return static_cast<float>((1.0 - 2.0 * phase * phase) * std::exp(-phase * phase));
}

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

}  // namespace

Shots make_shots(const Slab& slab, int across, int steps) {
  Shots shots;
  std::vector<double> onsets;
  for (const Source& source : place_sources(slab, across)) {
    if (!slab.owns(source.z)) continue;
    const auto plane = static_cast<std::size_t>(source.z - slab.first + kRadius);
    shots.points.push_back((plane * slab.ny + source.y) * slab.nx + source.x);
    onsets.push_back(source.onset);
  }
  const double dt = time_step();
  for (int step = 1; step <= steps; ++step) {
    for (const double onset : onsets) shots.amplitudes.push_back(ricker(step * dt - onset));
  }
  return shots;
}

}  // namespace wave
