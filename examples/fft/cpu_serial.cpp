// The CPU's transforms: FFTW's, or, where there is none, an FFT for powers of two, for tests more
// than for speed.
#include "serial.h"

#ifdef FFT_FFTW

#include <fftw3.h>

#include <stdexcept>

namespace fft {
namespace {

class FftwPlan {
 public:
  explicit FftwPlan(fftwf_plan plan) : plan_(plan) {
    if (plan == nullptr) throw std::runtime_error("FFTW makes no plan for this size");
  }
  ~FftwPlan() { fftwf_destroy_plan(plan_); }
  FftwPlan(const FftwPlan&) = delete;
  FftwPlan& operator=(const FftwPlan&) = delete;
  // In place, on memory of any alignment.
  void run(Value* slab) const {
    auto* values = reinterpret_cast<fftwf_complex*>(slab);
    fftwf_execute_dft(plan_, values, values);
  }

 private:
  fftwf_plan plan_;
};

// Plans are made by estimate: no trial writes to the slab.
constexpr unsigned kFlags = FFTW_ESTIMATE | FFTW_UNALIGNED;

fftwf_plan plan_planes(const Slabs& slabs, fftwf_complex* any, int sign) {
  const int extents[2] = {slabs.size, slabs.size};
  const int apart = slabs.size * slabs.size;
  return fftwf_plan_many_dft(2, extents, slabs.depth(), any, nullptr, 1, apart, any, nullptr, 1,
                             apart, sign, kFlags);
}

fftwf_plan plan_columns(const Slabs& slabs, fftwf_complex* any, int sign) {
  const int across = slabs.depth() * slabs.size;
  return fftwf_plan_many_dft(1, &slabs.size, across, any, nullptr, across, 1, any, nullptr, across,
                             1, sign, kFlags);
}

class FftwSerial : public Serial {
 public:
  FftwSerial(const Slabs& slabs, fftwf_complex* any)
      : planes_there_(plan_planes(slabs, any, FFTW_FORWARD)),
        planes_back_(plan_planes(slabs, any, FFTW_BACKWARD)),
        columns_there_(plan_columns(slabs, any, FFTW_FORWARD)),
        columns_back_(plan_columns(slabs, any, FFTW_BACKWARD)) {}

  void planes(Value* slab, Direction direction) override {
    (direction == Direction::kForward ? planes_there_ : planes_back_).run(slab);
  }
  void columns(Value* slab, Direction direction) override {
    (direction == Direction::kForward ? columns_there_ : columns_back_).run(slab);
  }

 private:
  FftwPlan planes_there_;
  FftwPlan planes_back_;
  FftwPlan columns_there_;
  FftwPlan columns_back_;
};

}  // namespace

std::unique_ptr<Serial> make_cpu_serial(const Slabs& slabs) {
  fftwf_complex* any = fftwf_alloc_complex(slabs.values());
  auto serial = std::make_unique<FftwSerial>(slabs, any);
  fftwf_free(any);
  return serial;
}

bool cpu_takes_any_size() { return true; }
const char* cpu_name() { return "fftw"; }

}  // namespace fft

#else

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace fft {
namespace {

// Cooley and Tukey's of radix 2, decimation in time. Twiddle factors are rounded from double.
class Line {
 public:
  explicit Line(int size) : size_(size), values_(size) {
    for (int i = 0; i < size / 2; ++i) {
      const double angle = -2 * std::numbers::pi * i / size;
      roots_.emplace_back(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
    }
  }

  // Transforms `size` values that lie `stride` apart.
  void transform(Value* line, std::size_t stride, Direction direction) {
    for (int i = 0; i < size_; ++i) values_[i] = line[i * stride];
    reverse_bits();
    for (int half = 1; half < size_; half *= 2) {
      for (int begin = 0; begin < size_; begin += 2 * half) butterflies(begin, half, direction);
    }
    for (int i = 0; i < size_; ++i) line[i * stride] = values_[i];
  }

 private:
  void reverse_bits() {
    for (int i = 1, j = 0; i < size_; ++i) {
      int bit = size_ / 2;
      for (; (j & bit) != 0; bit /= 2) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(values_[i], values_[j]);
    }
  }

  void butterflies(int begin, int half, Direction direction) {
    for (int i = 0; i < half; ++i) {
      const Value root = roots_[static_cast<std::size_t>(i) * (size_ / 2 / half)];
      const float imaginary = direction == Direction::kForward ? root.imag() : -root.imag();
      Value& low = values_[begin + i];
      Value& high = values_[begin + i + half];
      const Value turned(high.real() * root.real() - high.imag() * imaginary,
                         high.real() * imaginary + high.imag() * root.real());
      high = low - turned;
      low += turned;
    }
  }

  int size_;
  std::vector<Value> roots_;
  std::vector<Value> values_;
};

class RadixSerial : public Serial {
 public:
  explicit RadixSerial(const Slabs& slabs) : slabs_(slabs), line_(slabs.size) {}

  void planes(Value* slab, Direction direction) override {
    const std::size_t size = slabs_.size;
    for (std::size_t row = 0; row < size * slabs_.depth(); ++row) {
      line_.transform(slab + row * size, 1, direction);
    }
    for (int plane = 0; plane < slabs_.depth(); ++plane) {
      for (std::size_t x = 0; x < size; ++x) {
        line_.transform(slab + plane * slabs_.plane() + x, size, direction);
      }
    }
  }

  void columns(Value* slab, Direction direction) override {
    const std::size_t across = static_cast<std::size_t>(slabs_.depth()) * slabs_.size;
    for (std::size_t at = 0; at < across; ++at) line_.transform(slab + at, across, direction);
  }

 private:
  Slabs slabs_;
  Line line_;
};

}  // namespace

std::unique_ptr<Serial> make_cpu_serial(const Slabs& slabs) {
  return std::make_unique<RadixSerial>(slabs);
}

bool cpu_takes_any_size() { return false; }
const char* cpu_name() { return "radix 2"; }

}  // namespace fft

#endif
