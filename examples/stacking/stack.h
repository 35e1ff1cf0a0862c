// The sum of all ranks' images, on every rank.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "examples/common/memory.h"

namespace stacking {

class Stack {
 public:
  // `image` is this rank's. On a GPU, with `staged`, MPI gets pinned host memory, copied by hand
  // around each call, else the pointers to GPU memory.
  Stack(MPI_Comm comm, const std::vector<float>& image, bool on_gpu, bool staged);

  // Adds the images up. Returns the seconds that this rank took, copies by hand included.
  // Collective.
  double compute();

  // The last sum, in host memory.
  std::vector<float> result() const;

 private:
  MPI_Comm comm_;
  examples::Array<float> image_;
  examples::Array<float> stack_;
  // Memory of the host; empty unless staged.
  examples::Array<float> staged_image_;
  examples::Array<float> staged_stack_;
};

}  // namespace stacking
