// In the place of cufft_serial.cpp, in a build without cuFFT.
#include <stdexcept>

#include "serial.h"

namespace fft {

std::unique_ptr<Serial> make_gpu_serial(const Slabs&) {
  throw std::runtime_error("this build cannot transform on GPUs: it was made without cuFFT");
}

}  // namespace fft
