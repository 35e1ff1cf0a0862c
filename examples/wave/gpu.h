// The GPU side of the program. A build without CUDA has no_gpu.cpp in its place.
#pragma once

#include <memory>
#include <string>

#include "slab.h"
#include "solver.h"
#include "source.h"

namespace wave {

// Makes a GPU this process's own: number `local_rank` modulo how many there are. False and a
// sentence in `error` where there is none.
bool choose_gpu(int local_rank, std::string* error);

// On the GPU chosen before. Errors of CUDA end in std::runtime_error.
std::unique_ptr<Solver> make_gpu_solver(const Slab& slab, const Shots& shots);

}  // namespace wave
