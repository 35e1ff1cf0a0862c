#include <algorithm>
#include <cstddef>
#include <utility>

#include "medium.h"
#include "solver.h"

namespace wave {
namespace {

class CpuSolver : public Solver {
 public:
  CpuSolver(const Slab& slab, const Shots& shots)
      : slab_(slab),
        shots_(shots),
        coefficients_(make_coefficients(slab)),
        current_(slab.padded(), 0.0F),
        previous_(slab.padded(), 0.0F),
        snapshot_(slab.rank == 0 ? slab.plane() * slab.nz : 0) {}

  float* field() override { return current_.data(); }

  void advance(int step) override {
    wave::advance(slab_, coefficients_, current_.data(), previous_.data());
    const float* amplitude = shots_.amplitudes_of(step);
    for (const std::size_t point : shots_.points) previous_[point] += *amplitude++;
    std::swap(current_, previous_);
  }

  float* snapshot() override { return slab_.rank == 0 ? snapshot_.data() : nullptr; }
  void copy_own_planes() override {
    std::copy_n(current_.data() + kRadius * slab_.plane(), slab_.owned(), snapshot_.data());
  }
  void wait() override {}
  std::vector<float> download_snapshot() override { return std::move(snapshot_); }

 private:
  Slab slab_;
  Shots shots_;
  Coefficients coefficients_;
  std::vector<float> current_;
  std::vector<float> previous_;
  std::vector<float> snapshot_;
};

}  // namespace

std::unique_ptr<Solver> make_cpu_solver(const Slab& slab, const Shots& shots) {
  return std::make_unique<CpuSolver>(slab, shots);
}

#ifndef EXAMPLES_CUDA
// Nobody gets this far without a GPU.
std::unique_ptr<Solver> make_gpu_solver(const Slab&, const Shots&) { return nullptr; }
#endif

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
