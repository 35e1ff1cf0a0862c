#include "serial.h"

#include <algorithm>
#include <cstddef>

namespace fft {
namespace {

// The length of a run of rows that stays together.
std::size_t run(const Slabs& slabs) { return static_cast<std::size_t>(slabs.depth()) * slabs.size; }

// Both ways; `work` gets where a run lies in the planes and in the blocks.
template <typename Work>
void for_each_run(const Slabs& slabs, Work work) {
  for (int rank = 0; rank < slabs.ranks; ++rank) {
    for (int plane = 0; plane < slabs.depth(); ++plane) {
      work(plane * slabs.plane() + rank * run(slabs), (rank * slabs.depth() + plane) * run(slabs));
    }
  }
}

}  // namespace

void cut_planes(const Slabs& slabs, bool on_gpu, const Value* planes, Value* blocks) {
  if (on_gpu) return gpu_cut_planes(slabs, planes, blocks);
  for_each_run(slabs, [&](std::size_t in_planes, std::size_t in_blocks) {
    std::copy_n(planes + in_planes, run(slabs), blocks + in_blocks);
  });
}

void join_planes(const Slabs& slabs, bool on_gpu, const Value* blocks, Value* planes) {
  if (on_gpu) return gpu_join_planes(slabs, blocks, planes);
  for_each_run(slabs, [&](std::size_t in_planes, std::size_t in_blocks) {
    std::copy_n(blocks + in_blocks, run(slabs), planes + in_planes);
  });
}

void scale_into(const Slabs& slabs, bool on_gpu, const Value* from, Value* to) {
  if (on_gpu) return gpu_scale_into(slabs, from, to);
  const float factor = 1.0F / static_cast<float>(slabs.cube());
  for (std::size_t i = 0; i < slabs.values(); ++i) to[i] = from[i] * factor;
}

#ifndef EXAMPLES_CUDA
// Nobody gets this far without a GPU.
void gpu_cut_planes(const Slabs&, const Value*, Value*) {}
void gpu_join_planes(const Slabs&, const Value*, Value*) {}
void gpu_scale_into(const Slabs&, const Value*, Value*) {}
#endif

}  // namespace fft
