// How long the updates of all points take without their messages.
#pragma once

#include "solver.h"

namespace seismic {

// The mean of `steps` updates, in seconds, after one that does not count.
struct KernelTimes {
  double velocity_seconds = 0;
  double stress_seconds = 0;
  double copy_bytes_per_second =
      0;  // read and written by a copy of a large array, the best of several
};

KernelTimes time_kernels(Solver* solver, const Part& part, int steps, bool on_gpu);

}  // namespace seismic
