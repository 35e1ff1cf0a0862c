// The range of an array, for bounds that are a share of it.
#include <limits>

#include "codec/szp/coder.h"
#include "codec/szp/core.h"

namespace thinwire::codec::szp {
namespace {

template <typename Value>
std::uint64_t close_values(const std::byte* source, std::uint64_t values, std::uint64_t parameter) {
  constexpr Value kMost = std::numeric_limits<Value>::max();
  Value least = kMost;
  Value most = -kMost;
  for (std::uint64_t at = 0; at < values; ++at) {
    const auto value = load<Value>(source + at * sizeof(Value));
    const bool finite = value >= -kMost && value <= kMost;
    least = finite && value < least ? value : least;
    most = finite && value > most ? value : most;
  }
  return close_parameter(parameter, least, most);
}

}  // namespace

std::uint64_t close(const std::byte* source, const Chunk& array, std::uint64_t parameter) {
  return array.dtype == Dtype::kF32 ? close_values<float>(source, array.shape.count(), parameter)
                                    : close_values<double>(source, array.shape.count(), parameter);
}

}  // namespace thinwire::codec::szp
