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

// By cuFFT, whose errors and CUDA's end in std::runtime_error; so ends a build
// without.
std::unique_ptr<Serial> make_gpu_serial(const Slabs& slabs);

// Whether the CPU's takes other sizes than powers of two; what it is called.
bool cpu_takes_any_size();
const char* cpu_name();

// Values moved between planes and the blocks of an Alltoall, and scaled, on the CPU or on a GPU:
// from planes, [depth][size][size], to a block for each rank, [ranks][depth][depth][size].
void cut_planes(const Slabs& slabs, bool on_gpu, const Value* planes, Value* blocks);
void join_planes(const Slabs& slabs, bool on_gpu, const Value* blocks, Value* planes);

// to = from / size^3.
void scale_into(const Slabs& slabs, bool on_gpu, const Value* from, Value* to);

// A GPU's. In a build without CUDA nobody calls them, and they do nothing.
void gpu_cut_planes(const Slabs& slabs, const Value* planes, Value* blocks);
void gpu_join_planes(const Slabs& slabs, const Value* blocks, Value* planes);
void gpu_scale_into(const Slabs& slabs, const Value* from, Value* to);

}  // namespace fft
