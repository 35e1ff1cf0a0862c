// One rank's part of the wavefield, and the steps in time, on the CPU or on a GPU: u_tt = v^2
// laplacian(u), 2nd order in time, 8th order in space.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "medium.h"

namespace wave {

// The pointers it gives out are to host memory or to GPU memory, as the solver is. What it was told
// to do may still run when a call returns; wait() before MPI gets one of the pointers.
class Solver {
 public:
  virtual ~Solver() = default;

  // The field after the last step: the owned planes, with kRadius halo planes on either side.
  virtual float* field() = 0;

  // Takes the field to step `step`, the first being 1. The halo planes must be up to date.
  virtual void advance(int step) = 0;

  // On rank 0 the whole grid, [nz][ny][nx], for what is gathered; nullptr on the others.
  virtual float* snapshot() = 0;

  // On rank 0, copies the owned planes to their place in the snapshot.
  virtual void copy_own_planes() = 0;

  // Returns when all of it is done.
  virtual void wait() = 0;

  // The snapshot in host memory; empty on other ranks than 0.
  virtual std::vector<float> download_snapshot() = 0;
};

std::unique_ptr<Solver> make_cpu_solver(const Slab& slab, const Shots& shots);

// On the GPU that examples::choose_gpu() has chosen. Errors of CUDA end in std::runtime_error.
// In a build without CUDA nobody calls it.
std::unique_ptr<Solver> make_gpu_solver(const Slab& slab, const Shots& shots);

// Central 8th-order weights of the second derivative, in units of 1 / spacing^2.
inline constexpr std::array<double, kRadius + 1> kLaplacian = {-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0,
                                                               8.0 / 315.0, -1.0 / 560.0};

struct Coefficients {
  std::vector<float> courant_squared;  // of the owned points
  std::vector<float> damping_x;
  std::vector<float> damping_y;
  std::vector<float> damping_z;  // of the whole axis
};

Coefficients make_coefficients(const Slab& slab);

// Overwrites the owned points of `previous` (step n-1) with step n+1, from `current` (step n). Both
// hold the owned planes with kRadius halo planes on either side. The outermost kRadius points of
// the grid stay zero. Results do not depend on how the grid is cut into slabs.
void advance(const Slab& slab, const Coefficients& coefficients, const float* current,
             float* previous);

}  // namespace wave

// The arithmetic of one grid point, in the same order on the CPU and on a GPU: compiled without
// fused multiply-add, both give the same bits.

#ifdef __CUDACC__
#define WAVE_HOST_DEVICE __host__ __device__
#else
#define WAVE_HOST_DEVICE
#endif

namespace wave {

inline constexpr float kC0 = static_cast<float>(3.0 * kLaplacian[0]);
inline constexpr float kC1 = static_cast<float>(kLaplacian[1]);
inline constexpr float kC2 = static_cast<float>(kLaplacian[2]);
inline constexpr float kC3 = static_cast<float>(kLaplacian[3]);
inline constexpr float kC4 = static_cast<float>(kLaplacian[4]);

// Ahead of a wave front values fall to subnormals, which slow the arithmetic down many times over.
// What lies this far below any signal is set to zero instead.
inline constexpr float kSilence = 1e-30F;

// The six neighbours at distance k along the axes.
WAVE_HOST_DEVICE inline float ring(const float* u, std::ptrdiff_t row, std::ptrdiff_t plane,
                                   std::ptrdiff_t k) {
  return (u[-k] + u[k]) + (u[-k * row] + u[k * row]) + (u[-k * plane] + u[k * plane]);
}

// The point's value at step n+1. `u` points to it at step n, in a field whose rows and planes lie
// `row` and `plane` values apart; `previous` is its value at step n-1, `factor` its damping.
WAVE_HOST_DEVICE inline float next_value(const float* u, std::ptrdiff_t row, std::ptrdiff_t plane,
                                         float previous, float courant_squared, float factor) {
  const float laplacian = kC0 * *u + kC1 * ring(u, row, plane, 1) + kC2 * ring(u, row, plane, 2) +
                          kC3 * ring(u, row, plane, 3) + kC4 * ring(u, row, plane, 4);
  const float next = factor * (2.0F * *u - factor * previous + courant_squared * laplacian);
  return std::fabs(next) < kSilence ? 0.0F : next;
}

}  // namespace wave
