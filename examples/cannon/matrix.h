// The factors, entry by entry: what an entry is does not depend on the ranks, and every rank can
// compute any of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exchange.h"

namespace cannon {

template <typename Real>
class Matrix {
 public:
  virtual ~Matrix() = default;

  // Entries [row][column] to [row][column + count - 1].
  virtual void read_row(int row, int column, int count, Real* entries) const = 0;
};

// Which matrix of its kind; the two factors of a product are two.
enum class Factor : std::uint64_t { kLeft = 1, kRight = 2 };

// Makes the matrix of the inverse multiquadric kernel 1 / sqrt(1 + (distance / length)^2) between
// `size` random points of a line, sorted. Evaluated in single precision whatever Real is.
template <typename Real>
std::unique_ptr<Matrix<Real>> make_kernel_matrix(Factor factor, int size, double length);

// Random bits but for the exponent, which is one of half of all there are, so that the product does
// not overflow: of 32 or 64 bits there is one to be saved.
template <typename Real>
std::unique_ptr<Matrix<Real>> make_random_matrix(Factor factor, int size);

// The values of a file (examples/common/values.h), row after row, repeated until the matrix is
// full; the right factor starts in the middle of them. Errors as there.
template <typename Real>
std::unique_ptr<Matrix<Real>> make_file_matrix(Factor factor, int size, const std::string& path);

// Whether a product is one, without computing it again.

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
