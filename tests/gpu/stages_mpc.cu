// MPC: a unit by plain loops over words and bits, and by a warp, as the kernels do it.
#include "codec/mpc/lane.cuh"
#include "stages.cuh"

namespace thinwire::stages {
namespace {

using codec::kWordBits;
using namespace codec::mpc;

template <typename Word>
struct Unit {
  Word word[kUnitValues];
};

// A unit after transposing its groups and taking differences, which words are not zero, and the
// unit as undoing it all gives it back.
template <typename Word>
struct Coded {
  Unit<Word> differences;
  Unit<Word> restored;
  std::uint32_t present[32];
};

template <typename Word>
Coded<Word> code_on_host(const Unit<Word>& in) {
  constexpr int kBits = kWordBits<Word>;
  Unit<Word> planes{};
  for (int at = 0; at < kUnitValues; ++at) {
    for (int bit = 0; bit < kBits; ++bit) {
      planes.word[at / kBits * kBits + bit] |= (in.word[at] >> bit & 1) << at % kBits;
    }
  }
  Coded<Word> out{{}, in, {}};
  for (int at = 0; at < kUnitValues; ++at) {
    out.differences.word[at] = planes.word[at] - (at == 0 ? 0 : planes.word[at - 1]);
    out.present[at / 32] |= (out.differences.word[at] != 0 ? 1u : 0u) << at % 32;
  }
  return out;
}

// One warp a unit; every lane takes part in every step.
template <typename Word>
__global__ void code_by_warps(const Unit<Word>* in, Coded<Word>* out) {
  const unsigned first = threadIdx.x * kLaneValues;
  Coded<Word>& to = out[blockIdx.x];
  LaneWords<Word> words;
  for (int at = 0; at < kLaneValues; ++at) words[at] = in[blockIdx.x].word[first + at];
  transpose_groups(words);
  subtract_before<1>(words);
  for (int at = 0; at < kLaneValues; ++at) to.differences.word[first + at] = words[at];
  to.present[threadIdx.x] = presence<Word>(words);
  add_before<1>(words);
  transpose_groups(words);
  for (int at = 0; at < kLaneValues; ++at) to.restored.word[first + at] = words[at];
}

// Differences at a stride, and the unit as undoing them gives it back.
template <typename Word>
struct Strided {
  Unit<Word> differences;
  Unit<Word> restored;
};

template <typename Word>
Strided<Word> stride_on_host(const Unit<Word>& in, int stride) {
  Strided<Word> out{{}, in};
  for (int at = 0; at < kUnitValues; ++at) {
    out.differences.word[at] = in.word[at] - (at < stride ? 0 : in.word[at - stride]);
  }
  return out;
}

template <typename Word>
__global__ void stride_by_warps(const Unit<Word>* in, Strided<Word>* out, int stride) {
  const unsigned first = threadIdx.x * kLaneValues;
  Strided<Word>& to = out[blockIdx.x];
  LaneWords<Word> words;
  for (int at = 0; at < kLaneValues; ++at) words[at] = in[blockIdx.x].word[first + at];
  with_frequent_stride(stride, [&](auto kStride) { subtract_before<kStride>(words); });
  for (int at = 0; at < kLaneValues; ++at) to.differences.word[first + at] = words[at];
  with_frequent_stride(stride, [&](auto kStride) { add_before<kStride>(words); });
  for (int at = 0; at < kLaneValues; ++at) to.restored.word[first + at] = words[at];
}

template <typename Word>
std::vector<Unit<Word>> make_units() {
  std::mt19937_64 random(7);
  std::vector<Unit<Word>> units(120);
  for (std::size_t at = 0; at < units.size(); ++at) {
    // Random bits, few bits, one bit, smooth, zeros, ones: all of a unit, or a group each.
    for (int i = 0; i < kUnitValues; ++i) {
      const auto bits = static_cast<Word>(random());
      const Word kinds[] = {bits,
                            static_cast<Word>(bits & 0xFF),
                            static_cast<Word>(Word{1} << random() % kWordBits<Word>),
                            static_cast<Word>(Word(at) * 1000 + Word(i)),
                            0,
                            static_cast<Word>(~Word{0})};
      units[at].word[i] = kinds[(at % 7 == 6 ? i / kWordBits<Word> : at) % 6];
    }
  }
  return units;
}

template <typename Word>
void compare_words(Report& report, const std::string& bits) {
  const auto units = make_units<Word>();
  std::vector<Coded<Word>> expected;
  for (const Unit<Word>& unit : units) expected.push_back(code_on_host(unit));
  const DeviceVector<Unit<Word>> in(units);
  const DeviceVector<Coded<Word>> out(units.size());
  run_kernel(code_by_warps<Word>, {units.size(), 32}, in.data(), out.data());
  report_results(report, "mpc transpose, differences, presence by a warp, " + bits + " bits",
                 expected, out.to_host());
}

template <typename Word>
void compare_strides(Report& report, const std::string& bits) {
  const auto units = make_units<Word>();
  const DeviceVector<Unit<Word>> in(units);
  for (const int stride : {1, 2, 3, 4, 6}) {
    std::vector<Strided<Word>> expected;
    for (const Unit<Word>& unit : units) expected.push_back(stride_on_host(unit, stride));
    const DeviceVector<Strided<Word>> out(units.size());
    run_kernel(stride_by_warps<Word>, {units.size(), 32}, in.data(), out.data(), stride);
    report_results(report, "mpc stride " + std::to_string(stride) + " by a warp, " + bits + " bits",
                   expected, out.to_host());
  }
}

void compare_mpc(Report& report) {
  compare_words<std::uint32_t>(report, "32");
  compare_words<std::uint64_t>(report, "64");
  compare_strides<std::uint32_t>(report, "32");
  compare_strides<std::uint64_t>(report, "64");
}

const Comparison kComparison(compare_mpc);

}  // namespace
}  // namespace thinwire::stages
