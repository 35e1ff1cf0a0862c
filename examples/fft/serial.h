// The transforms of one rank's part, on the CPU or on a GPU, in place and without scaling.
#pragma once

#include <complex>
#include <memory>

#include "slabs.h"

namespace fft {

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
