// A GPU's products, by cuBLAS.
#include "product.h"

#ifdef CANNON_CUBLAS

#include <cublas_v2.h>

#include <stdexcept>
#include <string>

#include "examples/common/memory.h"

namespace cannon {
namespace {

void check_cublas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(what) + ": " + cublasGetStatusString(status));
}

// cuBLAS counts by columns, and what is written by rows is to it the transpose: the transposed
// product is the product of the transposed factors in reverse order.
cublasStatus_t gemm(cublasHandle_t handle, int rows, const double* a, const double* b, double beta,
                    double* c) {
  const double alpha = 1;
  return cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, rows, rows, rows, &alpha, b, rows, a, rows,
                     &beta, c, rows);
}

cublasStatus_t gemm(cublasHandle_t handle, int rows, const float* a, const float* b, float beta,
                    float* c) {
  const float alpha = 1;
  return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, rows, rows, rows, &alpha, b, rows, a, rows,
                     &beta, c, rows);
}

template <typename Real>
class CublasMultiplier : public Multiplier<Real> {
 public:
  explicit CublasMultiplier(int rows) : rows_(rows) {
    check_cublas(cublasCreate(&handle_), "starting cuBLAS");
  }
  CublasMultiplier(const CublasMultiplier&) = delete;
  CublasMultiplier& operator=(const CublasMultiplier&) = delete;
  ~CublasMultiplier() override { cublasDestroy(handle_); }

  void multiply(const Real* a, const Real* b, Real* c, bool add) override {
    check_cublas(gemm(handle_, rows_, a, b, add ? Real{1} : Real{0}, c), "multiplying blocks");
    // MPI and the clock know nothing of what a GPU has still to do.
    examples::wait_for_gpu();
  }
  const char* name() const override { return "cublas"; }

 private:
  int rows_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace

template <typename Real>
std::unique_ptr<Multiplier<Real>> make_gpu_multiplier(int rows) {
  return std::make_unique<CublasMultiplier<Real>>(rows);
}

template std::unique_ptr<Multiplier<float>> make_gpu_multiplier(int);
template std::unique_ptr<Multiplier<double>> make_gpu_multiplier(int);

}  // namespace cannon

#else

#include <stdexcept>

namespace cannon {

template <typename Real>
std::unique_ptr<Multiplier<Real>> make_gpu_multiplier(int) {
  throw std::runtime_error("this build cannot multiply on GPUs: it was made without cuBLAS");
}

template std::unique_ptr<Multiplier<float>> make_gpu_multiplier(int);
template std::unique_ptr<Multiplier<double>> make_gpu_multiplier(int);

}  // namespace cannon

#endif
