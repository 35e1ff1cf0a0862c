// Products of square blocks, on the CPU or on a GPU.
#pragma once

#include <memory>

namespace cannon {

template <typename Real>
class Multiplier {
 public:
  virtual ~Multiplier() = default;

  // c = a b, or c += a b: blocks of the size it was made for, row after row, in host memory or in
  // GPU memory as the multiplier is. Done on return.
  virtual void multiply(const Real* a, const Real* b, Real* c, bool add) = 0;

  // The name of what does the work, as "cblas".
  virtual const char* name() const = 0;
};

// By the BLAS that the build found, or by loops if it found none.
template <typename Real>
std::unique_ptr<Multiplier<Real>> make_cpu_multiplier(int rows);

// By cuBLAS on the GPU that examples::choose_gpu() has chosen. Errors end in std::runtime_error;
// a build without cuBLAS has nothing else.
template <typename Real>
std::unique_ptr<Multiplier<Real>> make_gpu_multiplier(int rows);

}  // namespace cannon
