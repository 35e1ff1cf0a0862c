// Values moved between planes and the blocks of an Alltoall, and scaled; on the CPU or on a GPU.
#pragma once

#include "serial.h"

namespace fft {

// From planes, [depth][size][size], to a block for each rank, [ranks][depth][depth][size].
void cut_planes(const Slabs& slabs, bool on_gpu, const Value* planes, Value* blocks);
void join_planes(const Slabs& slabs, bool on_gpu, const Value* blocks, Value* planes);

// to = from / size^3.
void scale_into(const Slabs& slabs, bool on_gpu, const Value* from, Value* to);

// A GPU's. In a build without CUDA nobody calls them, and no_gpu.cpp has nothing in them.
void gpu_cut_planes(const Slabs& slabs, const Value* planes, Value* blocks);
void gpu_join_planes(const Slabs& slabs, const Value* blocks, Value* planes);
void gpu_scale_into(const Slabs& slabs, const Value* from, Value* to);

}  // namespace fft
