// The sum of all ranks' images, on every rank.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "examples/common/memory.h"
#include "image.h"

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

// How far a stack is from the exact sum.

struct Quality {
  double range = 0;      // of the exact sum: its largest value less its smallest
  double max_error = 0;  // the largest difference of a value; infinity if one is not finite
  double rmse = 0;       // root mean square of the differences

  // Shares of the range; in decibels, infinite without any error.
  double nrmse() const;
  double psnr() const;
};

// Against the sum of the images in double precision. Each rank compares its share of its own
// `stack`, with images that it makes itself: no long message is needed, which a lossy codec could
// touch. Collective, and only of use if all ranks hold the same stack.
Quality measure(MPI_Comm comm, const Images& images, const std::vector<float>& stack);

}  // namespace stacking
