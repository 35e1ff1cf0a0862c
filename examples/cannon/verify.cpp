#include "verify.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "examples/common/random.h"

namespace cannon {
namespace {

constexpr std::uint64_t kSigns = 3;  // the streams below are the matrices'

// A sum, and what it would be if nothing cancelled.
struct Sum {
  double value = 0;
  double magnitude = 0;

  void add(double factor, const Sum& other) {
    value += factor * other.value;
    magnitude += std::abs(factor) * other.magnitude;
  }
};

// The part of the vector x that meets block column `column`: +1 and -1.
std::vector<Sum> random_signs(int column, int rows) {
  std::vector<Sum> signs(rows);
  for (int at = 0; at < rows; ++at) {
    const std::uint64_t index = static_cast<std::uint64_t>(column) * rows + at;
    signs[at] = {(examples::random_bits(kSigns, index) & 1) != 0 ? 1.0 : -1.0, 1.0};
  }
  return signs;
}

template <typename Real>
Sum dot(const Real* entries, const std::vector<Sum>& vector) {
  Sum sum;
  for (std::size_t at = 0; at < vector.size(); ++at) sum.add(entries[at], vector[at]);
  return sum;
}

// `count` rows of a matrix, from `row` on, times a vector that its columns from `column` on meet.
template <typename Real>
std::vector<Sum> times(const Matrix<Real>& matrix, int row, int count, int column,
                       const std::vector<Sum>& vector) {
  std::vector<Real> entries(vector.size());
  std::vector<Sum> sums(count);
  for (int at = 0; at < count; ++at) {
    matrix.read_row(row + at, column, static_cast<int>(entries.size()), entries.data());
    sums[at] = dot(entries.data(), vector);
  }
  return sums;
}

}  // namespace

template <typename Real>
double largest_error(const Grid& grid, int rows, const Matrix<Real>& a, const Matrix<Real>& b,
                     const std::vector<Real>& c) {
  const std::vector<Sum> signs = random_signs(grid.column, rows);
  const std::vector<Sum> of_b = times(b, 0, rows * grid.side, grid.column * rows, signs);
  const std::vector<Sum> expected = times(a, grid.row * rows, rows, 0, of_b);
  double largest = 0;
  for (int row = 0; row < rows; ++row) {
    const Sum found = dot(c.data() + static_cast<std::size_t>(row) * rows, signs);
    const double difference = std::abs(found.value - expected[row].value);
    // Rows of zeros must be zeros.
    const double share = difference == 0 ? 0 : difference / expected[row].magnitude;
    if (!std::isfinite(share)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, share);
  }
  return largest;
}

template <typename Real>
double rounding_bound(int size) {
  // Each term of a sum of `size` products is rounded that many times, by half an epsilon at most.
  return std::numeric_limits<Real>::epsilon() * size;
}

template double largest_error(const Grid&, int, const Matrix<float>&, const Matrix<float>&,
                              const std::vector<float>&);
template double largest_error(const Grid&, int, const Matrix<double>&, const Matrix<double>&,
                              const std::vector<double>&);
template double rounding_bound<float>(int);
template double rounding_bound<double>(int);

}  // namespace cannon
