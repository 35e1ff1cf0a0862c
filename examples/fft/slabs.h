// How a cube of size^3 values lies on the ranks: before the Alltoall as slabs of planes, after it
// as slabs of rows.
#pragma once

#include <cstddef>

namespace fft {

struct Slabs {
  int size = 0;
  int rank = 0;
  int ranks = 1;

  int depth() const { return size / ranks; }  // planes of a rank, and rows
  int first() const { return rank * depth(); }
  std::size_t plane() const { return static_cast<std::size_t>(size) * size; }
  std::size_t values() const { return plane() * depth(); }
  std::size_t cube() const { return plane() * size; }
  std::size_t block() const { return values() / ranks; }  // to each rank, in an Alltoall
};

}  // namespace fft
