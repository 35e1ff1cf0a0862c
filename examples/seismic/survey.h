// The two ends of a survey: a point source, a moment tensor whose rate is a Gaussian in time, and
// receivers, whose records are seismograms.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "medium.h"
#include "part.h"

namespace seismic {

enum class Mechanism {
  kExplosion,   // Mxx = Myy = Mzz
  kStrikeSlip,  // Mxy: a vertical fault along x, moved sideways
  kThrust,      // Mzz = -Mxx: a fault that dips by 45 degrees, moved upwards
};

struct Source {
  Mechanism mechanism = Mechanism::kThrust;
  Extents at;            // the point of normal stresses, global
  double moment = 1e16;  // newton metres
};

// A share of the source in one value of one field.
struct Shot {
  int field = 0;
  std::ptrdiff_t at = 0;
  float weight = 0;
};

// Points around the source's among which a moment is shared, along each axis.
inline constexpr int kSpread = 2;

// Amounts that this part adds to its stresses: field[at] += weight * moment_rate(step). No two are
// at one place.
std::vector<Shot> make_shots(const Source& source, const Model& model, const Part& part);

// The rate of a moment of 1, for steps 1 to `steps`, in the middle of each, times the time step. It
// is exp(-(t - t0)^2 / (2 s^2)) / (s sqrt(2 pi)), s = 1 / (4 hertz), t0 = 6 s.
std::vector<float> moment_rate(const Model& model, int steps);

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
