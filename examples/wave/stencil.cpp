#include "stencil.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "medium.h"

namespace wave {
namespace {

constexpr float kC0 = static_cast<float>(3.0 * kLaplacian[0]);
constexpr float kC1 = static_cast<float>(kLaplacian[1]);
constexpr float kC2 = static_cast<float>(kLaplacian[2]);
constexpr float kC3 = static_cast<float>(kLaplacian[3]);
constexpr float kC4 = static_cast<float>(kLaplacian[4]);

// Ahead of a wave front values fall to subnormals, which slow the arithmetic down many times over.
// What lies this far below any signal is set to zero instead.
constexpr float kSilence = 1e-30F;

// Never inlined: compilers drop __restrict with the call, and then do not vectorise the loop.
[[gnu::noinline]] void advance_row(std::ptrdiff_t nx, std::ptrdiff_t plane,
                                   const float* __restrict u,
                                   const float* __restrict courant_squared,
                                   const float* __restrict damping_x, float damping,
                                   float* __restrict previous) {
  // The six neighbours at distance k cells along the axes.
  const auto ring = [=](std::ptrdiff_t x, std::ptrdiff_t k) {
    return (u[x - k] + u[x + k]) + (u[x - k * nx] + u[x + k * nx]) +
           (u[x - k * plane] + u[x + k * plane]);
  };
  for (std::ptrdiff_t x = kRadius; x < nx - kRadius; ++x) {
    const float laplacian =
        kC0 * u[x] + kC1 * ring(x, 1) + kC2 * ring(x, 2) + kC3 * ring(x, 3) + kC4 * ring(x, 4);
    const float factor = damping * damping_x[x];
    const float next =
        factor * (2.0F * u[x] - factor * previous[x] + courant_squared[x] * laplacian);
    previous[x] = std::abs(next) < kSilence ? 0.0F : next;
  }
}

}  // namespace

Coefficients make_coefficients(const Slab& slab) {
  return {courant_squared(slab), sponge(slab.nx), sponge(slab.ny), sponge(slab.nz)};
}

void advance(const Slab& slab, const Coefficients& coefficients, const float* current,
             float* previous) {
  const std::size_t plane = slab.plane();
  const int begin = std::max(slab.first, kRadius) - slab.first;
  const int end = std::min(slab.first + slab.depth, slab.nz - kRadius) - slab.first;
  for (int z = begin; z < end; ++z) {
    for (int y = kRadius; y < slab.ny - kRadius; ++y) {
      const std::size_t owned = z * plane + static_cast<std::size_t>(y) * slab.nx;
      const std::size_t padded = owned + kRadius * plane;
      const float damping = coefficients.damping_z[slab.first + z] * coefficients.damping_y[y];
      advance_row(slab.nx, static_cast<std::ptrdiff_t>(plane), current + padded,
                  coefficients.courant_squared.data() + owned, coefficients.damping_x.data(),
                  damping, previous + padded);
    }
  }
}

}  // namespace wave
