// Seismograms: what receivers record, and how far two records of them are apart.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "part.h"

namespace seismic {

inline constexpr int kComponents = 3;  // vx, vy, vz, each at its own place of the staggered grid

// From a file with a line `x y z` a receiver, in grid points; or, without one, eight at the top
// along the diagonal of the grid. Errors, none at all and points outside of the grid end in
// std::runtime_error with a sentence for the user.
std::vector<Extents> read_receivers(const std::string& path, const Extents& grid);

// The receivers of this part, and which of all they are.
struct OwnReceivers {
  std::vector<int> numbers;
  std::vector<std::ptrdiff_t> points;
};
OwnReceivers own_receivers(const std::vector<Extents>& all, const Part& part);

// `own` is [steps][own receivers][component], in host memory. Rank 0 gets
// [receiver][component][step] of all, the others nothing. Sent as bytes: they are results, not data
// of the computation. Collective.
std::vector<float> gather_seismograms(MPI_Comm comm, const OwnReceivers& receivers, int count,
                                      const std::vector<float>& own, int steps);

struct Misfit {
  double all = 0;    // |a - b| / |b| over all samples, in the 2-norm
  double worst = 0;  // the largest of a receiver
};

// None if no wave had arrived at a receiver of the reference. A reference of another length ends
// in std::runtime_error.
std::optional<Misfit> misfit(const std::vector<float>& seismograms,
                             const std::vector<float>& reference, int receivers);

}  // namespace seismic
