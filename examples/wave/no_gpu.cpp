// In the place of gpu_solver.cu, in a build without CUDA.
#include "solver.h"

namespace wave {

// Nobody gets this far without a GPU.
std::unique_ptr<Solver> make_gpu_solver(const Slab&, const Shots&) { return nullptr; }

}  // namespace wave
