#include "medium.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "solver.h"

namespace wave {
namespace {

constexpr std::array<float, 4> kLayers = {2000.0F, 2500.0F, 3100.0F, 3900.0F};

}  // namespace

float velocity(const Slab& grid, int x, int y, int z) {
  const double east = static_cast<double>(x) / grid.nx;
  const double north = static_cast<double>(y) / grid.ny;
  const double down = static_cast<double>(z) / grid.nz;
  const double fault = 0.15 + 0.75 * east;
  const double uplift = down < fault ? 0.14 : 0.0;
  const double depth = down + uplift + 0.22 * (east - 0.5) + 0.08 * (north - 0.5);
  if (depth < 0.32) return kLayers[0];
  if (depth < 0.55) return kLayers[1];
  if (depth < 0.80) return kLayers[2];
  return kLayers[3];
}

double time_step() {
  double sum = std::abs(kLaplacian[0]);
  for (int k = 1; k <= kRadius; ++k) sum += 2.0 * std::abs(kLaplacian[k]);
  const double limit = 2.0 / std::sqrt(3.0 * sum);
  return 0.8 * limit * kSpacing / *std::max_element(kLayers.begin(), kLayers.end());
}

std::vector<float> courant_squared(const Slab& slab) {
  std::vector<float> values(slab.owned());
  const double scale = time_step() / kSpacing;
  auto value = values.begin();
  for (int z = slab.first; z < slab.first + slab.depth; ++z) {
    for (int y = 0; y < slab.ny; ++y) {
      for (int x = 0; x < slab.nx; ++x, ++value) {
        const double courant = velocity(slab, x, y, z) * scale;
        *value = static_cast<float>(courant * courant);
      }
    }
  }
  return values;
}

std::vector<float> sponge(int extent) {
  const int width = std::min(16, extent / 5);
  std::vector<float> factors(extent, 1.0F);
  for (int i = 0; i < width; ++i) {
    const double inward = 0.35 * (width - i) / width;
    const auto factor = static_cast<float>(std::exp(-inward * inward));
    factors[i] = factor;
    factors[extent - 1 - i] = factor;
  }
  return factors;
}

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
