#include <fftw3.h>

#include <stdexcept>

#include "serial.h"

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
