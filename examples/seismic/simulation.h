// The loop over time.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "exchange.h"
#include "solver.h"

namespace seismic {

struct StepTime {
  double seconds = 0;
  double comm_seconds = 0;
};

// Results of one rank.
struct Outcome {
  double seconds = 0;
  Traffic traffic;
  std::vector<StepTime> steps;
  std::uint64_t fingerprint = 0;
  float peak = 0;
  std::vector<float> seismograms;  // rank 0: of all receivers
};

// All steps of `setup`. With `overlap` the points that need no halo are updated while halos travel;
// the waves are the same, bit for bit. Collective.
Outcome simulate(MPI_Comm comm, const Setup& setup, bool overlap, Solver* solver,
                 Exchange* exchange);

// How long the updates of all points take without their messages.

// The mean of `steps` updates, in seconds, after one that does not count.
struct KernelTimes {
  double velocity_seconds = 0;
  double stress_seconds = 0;
  double copy_bytes_per_second =
      0;  // read and written by a copy of a large array, the best of several
};

KernelTimes time_kernels(Solver* solver, const Part& part, int steps, bool on_gpu);

}  // namespace seismic
