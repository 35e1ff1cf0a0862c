// How far a stack is from the exact sum.
#pragma once

#include <mpi.h>

#include <vector>

#include "image.h"

namespace stacking {

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
