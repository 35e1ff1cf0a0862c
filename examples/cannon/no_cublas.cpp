// In the place of cublas_multiplier.cpp, in a build without cuBLAS.
#include <stdexcept>

#include "multiplier.h"

namespace cannon {

template <typename Real>
std::unique_ptr<Multiplier<Real>> make_gpu_multiplier(int) {
  throw std::runtime_error("this build cannot multiply on GPUs: it was made without cuBLAS");
}

template std::unique_ptr<Multiplier<float>> make_gpu_multiplier(int);
template std::unique_ptr<Multiplier<double>> make_gpu_multiplier(int);

}  // namespace cannon
