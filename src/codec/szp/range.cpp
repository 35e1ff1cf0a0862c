// The range of an array, for bounds that are a share of it.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/vector_units.h"
#include "codec/szp/coder.h"
#include "codec/szp/core.h"

namespace thinwire::codec::szp {
namespace {

// Several at once: each is a chain of comparisons that wait for one another.
constexpr int kLanes = 32;

template <typename Value>
std::uint64_t close_values(const std::byte* source, std::uint64_t values, std::uint64_t parameter) {
  constexpr Value kMost = std::numeric_limits<Value>::max();
  std::array<Value, kLanes> least, most;
  least.fill(kMost);
  most.fill(-kMost);
  const auto take = [&](std::uint64_t at, int lane) {
    const auto value = load<Value>(source + at * sizeof(Value));
    const bool is_finite = std::fabs(value) <= kMost;
    const Value low = is_finite ? value : kMost;
    const Value high = is_finite ? value : -kMost;
    least[lane] = low < least[lane] ? low : least[lane];
    most[lane] = high > most[lane] ? high : most[lane];
  };
  std::uint64_t at = 0;
  for (; at + kLanes <= values; at += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) take(at + lane, lane);
  }
  for (; at < values; ++at) take(at, 0);
  return close_parameter(parameter, *std::min_element(least.begin(), least.end()),
                         *std::max_element(most.begin(), most.end()));
}

THINWIRE_VECTOR_CLONES std::uint64_t close_f32(const std::byte* source, std::uint64_t values,
                                               std::uint64_t parameter) {
  return close_values<float>(source, values, parameter);
}

THINWIRE_VECTOR_CLONES std::uint64_t close_f64(const std::byte* source, std::uint64_t values,
                                               std::uint64_t parameter) {
  return close_values<double>(source, values, parameter);
}

}  // namespace

std::uint64_t close(const std::byte* source, const Chunk& array, std::uint64_t parameter) {
  return array.dtype == Dtype::kF32 ? close_f32(source, array.shape.count(), parameter)
                                    : close_f64(source, array.shape.count(), parameter);
}

}  // namespace thinwire::codec::szp
