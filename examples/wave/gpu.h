// The GPU side of the program. A build without CUDA has no_gpu.cpp in its place.
#pragma once

#include <memory>

#include "slab.h"
#include "solver.h"
#include "source.h"

namespace wave {

// On the GPU that examples::choose_gpu() has chosen. Errors of CUDA end in std::runtime_error.
std::unique_ptr<Solver> make_gpu_solver(const Slab& slab, const Shots& shots);

}  // namespace wave
