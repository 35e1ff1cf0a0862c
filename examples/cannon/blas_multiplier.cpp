#include <cblas.h>

#include "multiplier.h"

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
