// A GPU's transforms, by cuFFT.
#include "serial.h"

#ifdef FFT_CUFFT

#include <cufft.h>

#include <stdexcept>
#include <string>

namespace fft {
namespace {

void check(cufftResult status, const char* what) {
  if (status == CUFFT_SUCCESS) return;
  throw std::runtime_error(std::string(what) + ": cuFFT error " + std::to_string(status));
}

class CufftPlan {
 public:
  // `batch` transforms of as many dimensions as `extents`, whose values lie `stride` apart.
  CufftPlan(int dimensions, int* extents, int stride, int apart, int batch) {
    check(cufftPlanMany(&plan_, dimensions, extents, extents, stride, apart, extents, stride, apart,
                        CUFFT_C2C, batch),
          "planning a transform");
  }
  ~CufftPlan() { cufftDestroy(plan_); }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;
  void run(Value* slab, Direction direction) const {
    auto* values = reinterpret_cast<cufftComplex*>(slab);
    const int sign = direction == Direction::kForward ? CUFFT_FORWARD : CUFFT_INVERSE;
    check(cufftExecC2C(plan_, values, values, sign), "a transform");
  }

 private:
  cufftHandle plan_ = 0;
};

class CufftSerial : public Serial {
 public:
  explicit CufftSerial(const Slabs& slabs)
      : extents_{slabs.size, slabs.size},
        across_(slabs.depth() * slabs.size),
        planes_(2, extents_, 1, slabs.size * slabs.size, slabs.depth()),
        columns_(1, extents_, across_, 1, across_) {}

  void planes(Value* slab, Direction direction) override { planes_.run(slab, direction); }
  void columns(Value* slab, Direction direction) override { columns_.run(slab, direction); }

 private:
  int extents_[2];
  int across_;
  CufftPlan planes_;
  CufftPlan columns_;
};

}  // namespace

std::unique_ptr<Serial> make_gpu_serial(const Slabs& slabs) {
  return std::make_unique<CufftSerial>(slabs);
}

}  // namespace fft

#else

#include <stdexcept>

namespace fft {

std::unique_ptr<Serial> make_gpu_serial(const Slabs&) {
  throw std::runtime_error("this build cannot transform on GPUs: it was made without cuFFT");
}

}  // namespace fft

#endif
