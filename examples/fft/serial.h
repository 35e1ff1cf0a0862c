// The transforms of one rank's part, on the CPU or on a GPU, in place and without scaling.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>

namespace fft {

// How a cube of size^3 values lies on the ranks: before the Alltoall as slabs of planes, after it
// as slabs of rows.

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

using Value = std::complex<float>;

// exp(-i ...) forward, exp(+i ...) backward.
enum class Direction { kForward, kBackward };

// Pointers are to host memory or to GPU memory, as the transforms are. What was told may still run
// when a call returns, and ends in the order of the calls.
class Serial {
 public:
  virtual ~Serial() = default;

  // Along y and x of a slab of planes, [planes][size][size].
  virtual void planes(Value* slab, Direction direction) = 0;
  // Along z of a slab of rows, [size][rows][size].
  virtual void columns(Value* slab, Direction direction) = 0;
};

std::unique_ptr<Serial> make_cpu_serial(const Slabs& slabs);

// By cuFFT, whose errors and CUDA's end in std::runtime_error. A build without has no_cufft.cpp in
// its place, and returns nullptr.
std::unique_ptr<Serial> make_gpu_serial(const Slabs& slabs);

// Whether the CPU's takes other sizes than powers of two; what it is called.
bool cpu_takes_any_size();
const char* cpu_name();

}  // namespace fft
