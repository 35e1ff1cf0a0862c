// In the place of gpu_blocks.cu, in a build without CUDA. Nobody gets this far without a GPU.
#include "blocks.h"

namespace fft {

void gpu_cut_planes(const Slabs&, const Value*, Value*) {}
void gpu_join_planes(const Slabs&, const Value*, Value*) {}
void gpu_scale_into(const Slabs&, const Value*, Value*) {}

}  // namespace fft
