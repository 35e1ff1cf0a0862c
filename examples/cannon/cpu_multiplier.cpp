// The CPU's products: a BLAS's, or, where there is none, by loops.
#include "product.h"

#ifdef CANNON_CBLAS

#include <cblas.h>

namespace cannon {
namespace {

void gemm(int rows, const double* a, const double* b, double beta, double* c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, rows, rows, 1, a, rows, b, rows,
              beta, c, rows);
}

void gemm(int rows, const float* a, const float* b, float beta, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, rows, rows, 1, a, rows, b, rows,
              beta, c, rows);
}

template <typename Real>
class BlasMultiplier : public Multiplier<Real> {
 public:
  explicit BlasMultiplier(int rows) : rows_(rows) {}

  void multiply(const Real* a, const Real* b, Real* c, bool add) override {
    gemm(rows_, a, b, add ? Real{1} : Real{0}, c);
  }
  const char* name() const override { return "cblas"; }

 private:
  int rows_;
};

}  // namespace

template <typename Real>
std::unique_ptr<Multiplier<Real>> make_cpu_multiplier(int rows) {
  return std::make_unique<BlasMultiplier<Real>>(rows);
}

template std::unique_ptr<Multiplier<float>> make_cpu_multiplier(int);
template std::unique_ptr<Multiplier<double>> make_cpu_multiplier(int);

}  // namespace cannon

#else

#include <algorithm>
#include <cstddef>

namespace cannon {
namespace {

// Rows of b that are used again for each row of a while the cache has them.
constexpr int kDepth = 32;

template <typename Real>
class LoopMultiplier : public Multiplier<Real> {
 public:
  explicit LoopMultiplier(int rows) : rows_(rows) {}

  void multiply(const Real* a, const Real* b, Real* c, bool add) override {
    const auto rows = static_cast<std::size_t>(rows_);
    if (!add) std::fill_n(c, rows * rows, Real{0});
    for (std::size_t first = 0; first < rows; first += kDepth) {
      const std::size_t end = std::min(first + kDepth, rows);
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t inner = first; inner < end; ++inner) {
          add_scaled(a[row * rows + inner], b + inner * rows, c + row * rows);
        }
      }
    }
  }
  const char* name() const override { return "loops"; }

 private:
  void add_scaled(Real factor, const Real* from, Real* to) const {
    for (int at = 0; at < rows_; ++at) to[at] += factor * from[at];
  }

  int rows_;
};

}  // namespace

template <typename Real>
std::unique_ptr<Multiplier<Real>> make_cpu_multiplier(int rows) {
  return std::make_unique<LoopMultiplier<Real>>(rows);
}

template std::unique_ptr<Multiplier<float>> make_cpu_multiplier(int);
template std::unique_ptr<Multiplier<double>> make_cpu_multiplier(int);

}  // namespace cannon

#endif
