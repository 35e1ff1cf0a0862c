#include "codec/integers.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/vector_units.h"

namespace thinwire::codec {
namespace {

constexpr std::uint64_t kStride = 2048;

template <typename Bits>
inline bool any_of(const std::byte* values, std::uint64_t count) {
  while (count > 0) {
    const std::uint64_t taken = std::min(count, kStride);
    Bits found = 0;
    for (std::uint64_t at = 0; at < taken; ++at) {
      found |= reads_as_integer(load<Bits>(values + at * sizeof(Bits)));
    }
    if (found != 0) return true;
    values += taken * sizeof(Bits);
    count -= taken;
  }
  return false;
}

THINWIRE_VECTOR_CLONES bool any_of_f64(const std::byte* values, std::uint64_t count) {
  return any_of<std::uint64_t>(values, count);
}

THINWIRE_VECTOR_CLONES bool any_of_f32(const std::byte* values, std::uint64_t count) {
  return any_of<std::uint32_t>(values, count);
}

}  // namespace

bool holds_integers(const std::byte* values, Dtype dtype, std::uint64_t count) {
  return dtype == Dtype::kF64 ? any_of_f64(values, count) : any_of_f32(values, count);
}

}  // namespace thinwire::codec
