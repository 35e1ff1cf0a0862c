// The factors, entry by entry: what an entry is does not depend on the ranks, and every rank can
// compute any of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

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

// The values of a file (examples/common/float_file.h), row after row, repeated until the matrix is
// full; the right factor starts in the middle of them. Errors as there.
template <typename Real>
std::unique_ptr<Matrix<Real>> make_file_matrix(Factor factor, int size, const std::string& path);

}  // namespace cannon
