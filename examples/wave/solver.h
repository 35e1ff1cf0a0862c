// One rank's part of the wavefield, and the steps in time, on the CPU or on a GPU.
#pragma once

#include <memory>
#include <vector>

#include "medium.h"
#include "slab.h"

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

// The GPU side of the program. A build without CUDA has no_gpu.cpp in its place.

// On the GPU that examples::choose_gpu() has chosen. Errors of CUDA end in std::runtime_error.
std::unique_ptr<Solver> make_gpu_solver(const Slab& slab, const Shots& shots);

}  // namespace wave
