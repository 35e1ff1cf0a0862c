#include <algorithm>
#include <utility>
#include <vector>

#include "examples/common/cuda_error.h"
#include "examples/common/memory.h"
#include "medium.h"
#include "solver.h"

namespace wave {
namespace {

using examples::Array;
using examples::check;
using examples::copy;
using examples::Place;
using examples::uploaded;

// Threads of a block, along x and y. A warp is one run of 32 points of a row.
constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

// Arrays that the kernel reads besides the field, all in GPU memory.
struct Medium {
  const float* courant_squared;
  const float* damping_x;
  const float* damping_y;
  const float* damping_z;
};

// One thread a point; `begin` is the first owned plane that is not on the rim of the grid.
__global__ void advance_points(Slab slab, int begin, Medium medium, const float* current,
                               float* previous) {
  const int x = kRadius + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = kRadius + static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = begin + static_cast<int>(blockIdx.z);
  if (x >= slab.nx - kRadius || y >= slab.ny - kRadius) return;
  const std::ptrdiff_t row = slab.nx;
  const std::ptrdiff_t plane = row * slab.ny;
  const std::ptrdiff_t owned = z * plane + y * row + x;
  const std::ptrdiff_t padded = owned + kRadius * plane;
  const float damping = medium.damping_z[slab.first + z] * medium.damping_y[y];
  const float factor = damping * medium.damping_x[x];
  previous[padded] = next_value(current + padded, row, plane, previous[padded],
                                medium.courant_squared[owned], factor);
}

// One thread a source; no two share a point.
__global__ void add_sources(const std::size_t* points, const float* amplitudes, int count,
                            float* field) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < count) field[points[i]] += amplitudes[i];
}

int blocks(int extent, int block) { return (extent - 2 * kRadius + block - 1) / block; }

class GpuSolver : public Solver {
 public:
  GpuSolver(const Slab& slab, const Shots& shots)
      : slab_(slab),
        courant_squared_(uploaded(courant_squared(slab))),
        damping_x_(uploaded(sponge(slab.nx))),
        damping_y_(uploaded(sponge(slab.ny))),
        damping_z_(uploaded(sponge(slab.nz))),
        sources_(static_cast<int>(shots.points.size())),
        points_(uploaded(shots.points)),
        amplitudes_(uploaded(shots.amplitudes)),
        current_(Place::kGpu, slab.padded()),
        previous_(Place::kGpu, slab.padded()),
        field_(current_.data()),
        next_(previous_.data()),
        snapshot_(Place::kGpu, slab.rank == 0 ? slab.plane() * slab.nz : 0) {}

  float* field() override { return field_; }

  void advance(int step) override {
    const int begin = std::max(slab_.first, kRadius) - slab_.first;
    const int end = std::min(slab_.first + slab_.depth, slab_.nz - kRadius) - slab_.first;
    const Medium medium{courant_squared_.data(), damping_x_.data(), damping_y_.data(),
                        damping_z_.data()};
    if (end > begin) {
      const dim3 grid(blocks(slab_.nx, kBlockX), blocks(slab_.ny, kBlockY), end - begin);
      advance_points<<<grid, dim3(kBlockX, kBlockY)>>>(slab_, begin, medium, field_, next_);
      check(cudaGetLastError(), "advancing the field");
    }
    if (sources_ > 0) {
      const float* amplitudes = amplitudes_.data() + static_cast<std::size_t>(step - 1) * sources_;
      add_sources<<<1, sources_>>>(points_.data(), amplitudes, sources_, next_);
      check(cudaGetLastError(), "adding the sources");
    }
    std::swap(field_, next_);
  }

  float* snapshot() override { return snapshot_.data(); }
  void copy_own_planes() override {
    copy(snapshot_.data(), field_ + kRadius * slab_.plane(), slab_.owned());
  }
  void wait() override { examples::wait_for_gpu(); }
  std::vector<float> download_snapshot() override {
    if (slab_.rank != 0) return {};
    std::vector<float> values(slab_.plane() * slab_.nz);
    copy(values.data(), snapshot_.data(), values.size());
    examples::wait_for_gpu();
    return values;
  }

 private:
  Slab slab_;
  Array<float> courant_squared_;
  Array<float> damping_x_;
  Array<float> damping_y_;
  Array<float> damping_z_;
  int sources_;
  Array<std::size_t> points_;
  Array<float> amplitudes_;  // [steps][sources_]
  Array<float> current_;
  Array<float> previous_;
  float* field_;  // one of the two above,
  float* next_;   // and the other
  Array<float> snapshot_;
};

}  // namespace

std::unique_ptr<Solver> make_gpu_solver(const Slab& slab, const Shots& shots) {
  auto solver = std::make_unique<GpuSolver>(slab, shots);
  solver->wait();
  return solver;
}

}  // namespace wave
