// Values that are none: programs keep tags, types and indices as integers in the bits of floats,
// and a codec that bounds an error makes zeros or other numbers of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "base/host_device.h"

namespace thinwire::codec {

// Integers below this in magnitude. As fp64 they are subnormal numbers of less than 6e-312, or NaN
// where negative: nothing that is computed with. Below 2^23 as fp32 they are all the subnormal
// ones, which real fields have too.
template <typename Bits>
inline constexpr Bits kIntegerEnd = Bits{1} << (sizeof(Bits) == 8 ? 40 : 23);

// Whether a value's bits, read as a signed number, are an integer below that and not 0.
template <typename Bits>
THINWIRE_HOST_DEVICE constexpr bool reads_as_integer(Bits bits) {
  constexpr Bits kMost = kIntegerEnd<Bits> - 1;
  return (static_cast<Bits>(bits + kMost) <= 2 * kMost) & (bits != 0);
}

// Whether one of `count` values of fp64 or fp32, at any alignment, does.
bool holds_integers(const std::byte* values, Dtype dtype, std::uint64_t count);

}  // namespace thinwire::codec
