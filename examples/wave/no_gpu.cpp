// In the place of gpu_solver.cu and staging.cpp, in a build without CUDA.
#include "gpu.h"
#include "staging.h"

namespace wave {

bool choose_gpu(int, std::string* error) {
  *error = "this build has no GPU side: it was made without nvcc";
  return false;
}

// Nobody gets this far without a GPU.
std::unique_ptr<Solver> make_gpu_solver(const Slab&, const Shots&) { return nullptr; }
std::unique_ptr<Exchange> make_staged_exchange(MPI_Comm, const Slab&) { return nullptr; }

}  // namespace wave
