// Whether a product is one, without computing it again.
#pragma once

#include <vector>

#include "grid.h"
#include "matrix.h"

namespace cannon {

// Freivalds' check of one rank's block of C = A B, from the entries of A and B as they are defined
// and without a message: for a vector x of random signs, C x against A (B x), in double precision.
// Returns the largest difference of a row as a share of |A| (|B| |x|); infinity if an entry of C
// is not finite.
template <typename Real>
double largest_error(const Grid& grid, int rows, const Matrix<Real>& a, const Matrix<Real>& b,
                     const std::vector<Real>& c);

// Bounds largest_error() of a product of matrices with `size` rows whose every operation was
// rounded to Real, in whatever order; and as much again for the check's own rounding.
template <typename Real>
double rounding_bound(int size);

}  // namespace cannon
