// ndzip's arithmetic: everything that defines bytes. Host and device code; no containers, no
// allocation. See spec/codec-ndzip.md.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "base/host_device.h"
#include "codec/word.h"

namespace thinwire::codec::ndzip {

inline constexpr int kBoxValues = 4096;
inline constexpr int kMaxRank = 3;

// Axes that are more than one value long.
constexpr int real_axes(const Shape& shape) {
  int axes = 0;
  for (int axis = 0; axis < shape.rank; ++axis) axes += shape.extent[axis] > 1;
  return axes;
}

// Extents of a whole box along each of `axes` real axes.
constexpr std::uint64_t box_extent(int axes) { return axes <= 1 ? 4096 : axes == 2 ? 64 : 16; }

template <typename Word>
THINWIRE_HOST_DEVICE constexpr std::uint32_t groups_of(std::uint32_t values) {
  return (values + kWordBits<Word> - 1) / kWordBits<Word>;
}

// Bytes of a payload of so many words, heads and planes together.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr std::uint32_t payload_bytes(std::uint32_t words) {
  return (words * static_cast<std::uint32_t>(sizeof(Word)) + 7) / 8 * 8;
}

// Two's complement to sign and magnitude (of which the magnitude is one less), and back.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word flip(Word word) {
  const Word negative = static_cast<Word>(Word{0} - (word >> (kWordBits<Word> - 1)));
  return word ^ (negative >> 1);
}

}  // namespace thinwire::codec::ndzip
