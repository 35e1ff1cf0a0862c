// One rank's part of the wavefield, and what is done with it in a step, on the CPU or on a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "medium.h"
#include "part.h"
#include "survey.h"

namespace seismic {

struct Setup {
  Part part;
  Model model;
  RockTable rocks{};
  Sponge sponge;
  std::vector<float> kept;   // kept_shares()
  std::vector<Shot> shots;   // make_shots()
  std::vector<float> rates;  // moment_rate()
  OwnReceivers receivers;
  int steps = 0;
};

// Pointers that it takes are to host memory or to GPU memory, as the solver is. What it was told to
// do may still run when a call returns, and ends in the order of the calls.
class Solver {
 public:
  virtual ~Solver() = default;

  // Points of a box to the next half step. What they read of halos must be there.
  virtual void update_velocity(const Box& box) = 0;
  virtual void update_stress(const Box& box) = 0;

  // Fills what lies above the free surface, for the columns of a box that begins there. Does
  // nothing for other boxes and parts.
  virtual void mirror_velocity(const Box& box) = 0;
  virtual void mirror_stress(const Box& box) = 0;

  // Steps count from 0.
  virtual void add_source(int step) = 0;
  virtual void record(int step) = 0;

  // Between the fields and a message, values in the order of Planes.
  virtual void pack(const Planes& planes, float* message) = 0;
  virtual void unpack(const Planes& planes, const float* message) = 0;

  // Returns when all of it is done.
  virtual void wait() = 0;

  // [steps][own receivers][component], in host memory.
  virtual std::vector<float> records() = 0;

  // A print of all own velocities and stresses: a sum over points whose total over ranks does not
  // depend on how the grid is divided; and the largest velocity along an axis, NaN if there is one.
  virtual std::uint64_t fingerprint() = 0;
  virtual float peak() = 0;
};

std::unique_ptr<Solver> make_cpu_solver(const Setup& setup);

// On the GPU that examples::choose_gpu() has chosen. Errors of CUDA end in std::runtime_error. In
// a build without CUDA nobody calls it.
std::unique_ptr<Solver> make_gpu_solver(const Setup& setup);

}  // namespace seismic
