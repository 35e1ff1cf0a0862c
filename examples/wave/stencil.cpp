#include "stencil.h"

#include <algorithm>
#include <cstddef>

#include "medium.h"

namespace wave {
namespace {

// Never inlined: compilers drop __restrict with the call, and then do not vectorise the loop.
[[gnu::noinline]] void advance_row(std::ptrdiff_t nx, std::ptrdiff_t plane,
                                   const float* __restrict u,
                                   const float* __restrict courant_squared,
                                   const float* __restrict damping_x, float damping,
                                   float* __restrict previous) {
  for (std::ptrdiff_t x = kRadius; x < nx - kRadius; ++x) {
    previous[x] =
        next_value(u + x, nx, plane, previous[x], courant_squared[x], damping * damping_x[x]);
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
