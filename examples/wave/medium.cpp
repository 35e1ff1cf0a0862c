#include "medium.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "stencil.h"

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

}  // namespace wave
