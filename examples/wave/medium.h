// The grid, in slabs of ranks, and the medium of the waves: velocities, the time step that they
// allow, and the absorbing rim.
#pragma once

#include <cstddef>
#include <vector>

namespace wave {

inline constexpr int kRadius = 4;  // planes that a point's update reaches to either side

// The planes of the grid that a rank owns, along z, the slowest axis.
struct Slab {
  int rank = 0;
  int ranks = 1;
  int nx = 0;
  int ny = 0;
  int nz = 0;     // of the whole grid
  int first = 0;  // global index of the first owned plane
  int depth = 0;  // owned planes

  std::size_t plane() const { return static_cast<std::size_t>(nx) * ny; }
  std::size_t owned() const { return plane() * depth; }
  // With kRadius halo planes on either side.
  std::size_t padded() const { return owned() + 2 * kRadius * plane(); }
  bool owns(int z) const { return z >= first && z < first + depth; }
};

// The first nz % ranks slabs are one plane deeper than the others.
inline Slab make_slab(int nx, int ny, int nz, int rank, int ranks) {
  const int base = nz / ranks;
  const int extra = nz % ranks;
  Slab slab{.rank = rank, .ranks = ranks, .nx = nx, .ny = ny, .nz = nz};
  slab.first = rank * base + (rank < extra ? rank : extra);
  slab.depth = base + (rank < extra ? 1 : 0);
  return slab;
}

inline constexpr double kSpacing = 10.0;  // grid spacing in metres, the same on every axis

// Velocity in m/s at a global grid point: four dipping layers, cut by a thrust fault above which
// they lie higher.
float velocity(const Slab& grid, int x, int y, int z);

// Seconds: 80% of the largest stable step of this scheme in the fastest layer.
double time_step();

// (velocity * time step / spacing)^2 of the owned points.
std::vector<float> courant_squared(const Slab& slab);

// Damping factors per axis for Cerjan's sponge: 1 inside, falling towards both ends.
std::vector<float> sponge(int extent);

// Point sources with a Ricker wavelet.

// Amounts that one rank adds to its part of the field, a value a source in every step.
struct Shots {
  std::vector<std::size_t> points;  // in the padded slab, all different
  std::vector<float> amplitudes;    // [steps][points]

  // Amplitudes of step `step`, the first being 1.
  const float* amplitudes_of(int step) const {
    return amplitudes.data() + static_cast<std::size_t>(step - 1) * points.size();
  }
};

// Makes those of the grid's `across` x `across` shots that lie in the slab, for steps 1 to `steps`.
// They are at one depth, spread evenly and fired one shortly after another, as in a blended survey;
// a single one lies below the middle of the surface.
Shots make_shots(const Slab& slab, int across, int steps);

}  // namespace wave
