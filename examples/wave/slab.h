// Which planes of the grid a rank owns: slabs along z, the slowest axis.
#pragma once

#include <cstddef>

namespace wave {

inline constexpr int kRadius = 4;  // planes that a point's update reaches to either side

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

}  // namespace wave
