// Blocks of a line that are worked on side by side: what the host's coders of fp32 (line.cpp) and
// fp64 (double_line.cpp) share. The loops over a group are what the compiler vectorises.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "codec/zfp/line_bits.h"

namespace thinwire::codec::zfp {

inline constexpr int kGroup = 8;
inline constexpr int kGroupValues = kGroup * kLineValues;

// How many blocks of a group of `count` values are part of the array.
inline int blocks_of(std::uint64_t count) { return static_cast<int>((count + 3) / kLineValues); }

// Reads `count` values, 1 to kGroupValues. A last block that is not full repeats its own values, in
// the order of the format, so that its transform stays smooth.
template <typename Scalar>
inline void read_group(const std::byte* source, std::uint64_t count,
                       Scalar (&values)[kGroupValues]) {
  std::memcpy(values, source, count * sizeof(Scalar));
  if (count == kGroupValues) return;
  std::fill(values + count, values + kGroupValues, Scalar{0});
  Scalar* last = values + count / kLineValues * kLineValues;
  const auto present = count % kLineValues;
  if (present == 0) return;
  if (present < 2) last[1] = last[0];
  if (present < 3) last[2] = last[1];
  last[3] = last[0];
}

}  // namespace thinwire::codec::zfp
