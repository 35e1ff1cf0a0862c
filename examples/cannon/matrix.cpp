#include "matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "examples/common/values.h"

namespace cannon {
namespace {

std::vector<double> sorted_points(Factor factor, int count) {
  std::vector<double> points(count);
  for (int at = 0; at < count; ++at) {
    points[at] = examples::random_number(static_cast<std::uint64_t>(factor), at);
  }
  std::sort(points.begin(), points.end());
  return points;
}

template <typename Real>
class KernelMatrix : public Matrix<Real> {
 public:
  KernelMatrix(Factor factor, int size, double length)
      : points_(sorted_points(factor, size)), length_(length) {}

  void read_row(int row, int column, int count, Real* entries) const override {
    for (int at = 0; at < count; ++at) {
      const double distance = (points_[row] - points_[column + at]) / length_;
      // Square root and division are exactly rounded: the same bits on every machine.
      entries[at] = static_cast<float>(1 / std::sqrt(1 + distance * distance));
    }
  }

 private:
  std::vector<double> points_;
  double length_;
};

template <typename Real>
class RandomMatrix : public Matrix<Real> {
 public:
  RandomMatrix(Factor factor, int size)
      : stream_(static_cast<std::uint64_t>(factor)), size_(size) {}

  void read_row(int row, int column, int count, Real* entries) const override {
    const std::uint64_t first = static_cast<std::uint64_t>(row) * size_ + column;
    for (int at = 0; at < count; ++at) entries[at] = entry(first + at);
  }

 private:
  using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;

  Real entry(std::uint64_t index) const {
    constexpr int kMantissaBits = std::numeric_limits<Real>::digits - 1;
    constexpr int kExponentBits = 8 * sizeof(Real) - 1 - kMantissaBits;
    // Half of all exponents, a little below the middle: sums of products must not overflow.
    constexpr Bits kHalf = Bits{1} << (kExponentBits - 1);
    constexpr Bits kLowest = kHalf / 2 - kHalf / 20;
    constexpr Bits kExponentMask = (2 * kHalf - 1) << kMantissaBits;
    const auto bits = static_cast<Bits>(examples::random_bits(stream_, index));
    const Bits exponent = kLowest + ((bits >> kMantissaBits) & (kHalf - 1));
    return std::bit_cast<Real>((bits & ~kExponentMask) | (exponent << kMantissaBits));
  }

  std::uint64_t stream_;
  std::uint64_t size_;
};

template <typename Real>
class FileMatrix : public Matrix<Real> {
 public:
  FileMatrix(std::vector<Real> values, std::size_t first, int size)
      : values_(std::move(values)), first_(first), size_(size) {}

  void read_row(int row, int column, int count, Real* entries) const override {
    std::size_t from = (static_cast<std::size_t>(row) * size_ + column + first_) % values_.size();
    for (int at = 0; at < count; ++at) {
      entries[at] = values_[from];
      if (++from == values_.size()) from = 0;
    }
  }

 private:
  std::vector<Real> values_;
  std::size_t first_;
  std::size_t size_;
};

}  // namespace

template <typename Real>
std::unique_ptr<Matrix<Real>> make_kernel_matrix(Factor factor, int size, double length) {
  return std::make_unique<KernelMatrix<Real>>(factor, size, length);
}

template <typename Real>
std::unique_ptr<Matrix<Real>> make_random_matrix(Factor factor, int size) {
  return std::make_unique<RandomMatrix<Real>>(factor, size);
}

template <typename Real>
std::unique_ptr<Matrix<Real>> make_file_matrix(Factor factor, int size, const std::string& path) {
  const std::size_t all = std::numeric_limits<std::size_t>::max();
  std::vector<Real> values = examples::read_floats<Real>(path, all);
  const std::size_t first = factor == Factor::kRight ? values.size() / 2 : 0;
  return std::make_unique<FileMatrix<Real>>(std::move(values), first, size);
}

template std::unique_ptr<Matrix<float>> make_kernel_matrix(Factor, int, double);
template std::unique_ptr<Matrix<double>> make_kernel_matrix(Factor, int, double);
template std::unique_ptr<Matrix<float>> make_random_matrix(Factor, int);
template std::unique_ptr<Matrix<double>> make_random_matrix(Factor, int);
template std::unique_ptr<Matrix<float>> make_file_matrix(Factor, int, const std::string&);
template std::unique_ptr<Matrix<double>> make_file_matrix(Factor, int, const std::string&);

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
