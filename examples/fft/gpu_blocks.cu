#include <cstddef>

#include "examples/common/cuda_error.h"
#include "serial.h"

namespace fft {
namespace {

using examples::check;

constexpr int kThreads = 256;

struct Pair {
  float real;
  float imaginary;
};

// A thread a value, counted in the order of the blocks. `apart` is a run of rows of one plane and
// block.
__global__ void move_values(std::size_t values, std::size_t apart, int depth, std::size_t plane,
                            bool cut, const Pair* from, Pair* to) {
  const std::size_t in_blocks = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (in_blocks >= values) return;
  const std::size_t number = in_blocks / apart;
  const std::size_t in_planes = number % depth * plane + number / depth * apart + in_blocks % apart;
  if (cut) {
    to[in_blocks] = from[in_planes];
  } else {
    to[in_planes] = from[in_blocks];
  }
}

__global__ void scale_values(std::size_t values, float factor, const Pair* from, Pair* to) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < values) to[i] = {from[i].real * factor, from[i].imaginary * factor};
}

unsigned blocks_of(const Slabs& slabs) {
  return static_cast<unsigned>((slabs.values() + kThreads - 1) / kThreads);
}

void move(const Slabs& slabs, bool cut, const Value* from, Value* to) {
  const std::size_t apart = static_cast<std::size_t>(slabs.depth()) * slabs.size;
  move_values<<<blocks_of(slabs), kThreads>>>(slabs.values(), apart, slabs.depth(), slabs.plane(),
                                              cut, reinterpret_cast<const Pair*>(from),
                                              reinterpret_cast<Pair*>(to));
  check(cudaGetLastError(), "moving values to blocks");
}

}  // namespace

void gpu_cut_planes(const Slabs& slabs, const Value* planes, Value* blocks) {
  move(slabs, true, planes, blocks);
}

void gpu_join_planes(const Slabs& slabs, const Value* blocks, Value* planes) {
  move(slabs, false, blocks, planes);
}

void gpu_scale_into(const Slabs& slabs, const Value* from, Value* to) {
  const float factor = 1.0F / static_cast<float>(slabs.cube());
  scale_values<<<blocks_of(slabs), kThreads>>>(
      slabs.values(), factor, reinterpret_cast<const Pair*>(from), reinterpret_cast<Pair*>(to));
  check(cudaGetLastError(), "scaling");
}

}  // namespace fft
