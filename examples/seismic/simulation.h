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

}  // namespace seismic
