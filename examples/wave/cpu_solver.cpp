#include <algorithm>
#include <utility>

#include "solver.h"
#include "stencil.h"

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

}  // namespace wave
