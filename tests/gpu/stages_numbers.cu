// fp16 and fp32, each as the other: GPUs have instructions for it, CPUs do it in integers.
#include "base/numbers.h"
#include "codec/accumulate.h"
#include "stages.cuh"

namespace thinwire::stages {
namespace {

struct FromHalf {
  using In = std::uint16_t;
  using Out = std::uint32_t;
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) { out = bits_of(float_of_f16(in)); }
};

struct ToHalf {
  using In = std::uint32_t;
  using Out = std::uint16_t;
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) { out = f16_of(float_of(in)); }
};

// The sum of two halves under a scale, as reductions add them.
struct SumOfHalves {
  using In = std::uint32_t;
  using Out = std::uint16_t;
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    out = codec::add_and_scale<Dtype::kF16>(static_cast<std::uint16_t>(in),
                                            static_cast<std::uint16_t>(in >> 16), 1.0f / 3);
  }
};

std::vector<std::uint16_t> all_halves() {
  std::vector<std::uint16_t> halves(1 << 16);
  for (std::size_t at = 0; at < halves.size(); ++at) halves[at] = static_cast<std::uint16_t>(at);
  return halves;
}

// Every half as fp32, what lies in the middle between it and the next, and what lies next to these;
// NaN of many payloads; and random bits.
std::vector<std::uint32_t> near_halves() {
  std::vector<std::uint32_t> floats;
  for (const std::uint16_t half : all_halves()) {
    const std::uint32_t bits = bits_of(float_of_f16(half));
    const std::uint32_t next = bits_of(float_of_f16(static_cast<std::uint16_t>(half + 1)));
    const std::uint32_t middle = bits / 2 + next / 2;
    for (const std::uint32_t near : {bits, middle}) {
      for (const int by : {-1, 0, 1}) floats.push_back(near + static_cast<std::uint32_t>(by));
    }
  }
  std::mt19937 random(11);
  for (int at = 0; at < 1 << 18; ++at) floats.push_back(static_cast<std::uint32_t>(random()));
  for (int at = 0; at < 1 << 12; ++at) {
    floats.push_back(0x7F800000u | static_cast<std::uint32_t>(random()));
  }
  return floats;
}

void compare_numbers(Report& report) {
  compare<FromHalf>(report, "fp16 as fp32", all_halves());
  compare<ToHalf>(report, "fp32 as fp16", near_halves());
  std::mt19937 random(12);
  std::vector<std::uint32_t> pairs;
  for (const std::uint16_t half : all_halves()) {
    for (int at = 0; at < 8; ++at) {
      pairs.push_back(static_cast<std::uint32_t>(random()) << 16 | half);
    }
  }
  compare<SumOfHalves>(report, "sums of fp16", pairs);
}

const Comparison kComparison(compare_numbers);

}  // namespace
}  // namespace thinwire::stages
