// Rates, costs and sizes as callers give them: one check for all entries.
#pragma once

#include <cmath>
#include <cstdint>

#include "thinwire/thinwire.h"

namespace thinwire::capi {

// A rate of a link: 0 if it is not stated, else finite and above 0.
inline bool is_rate(double bytes_per_second) {
  return std::isfinite(bytes_per_second) && bytes_per_second >= 0;
}

// A codec's cost: all 0 if it was not measured, else finite and above 0 throughout.
inline bool is_cost(const tw_codec_cost& cost) {
  const double values[] = {cost.encode_bytes_per_second, cost.decode_bytes_per_second, cost.ratio};
  int zeros = 0;
  for (const double value : values) {
    if (!is_rate(value)) return false;
    zeros += value == 0 ? 1 : 0;
  }
  return zeros == 0 || zeros == 3;
}

// A size that arithmetic with a few of its kind does not overflow.
inline bool is_size(std::uint64_t bytes) { return bytes <= UINT64_MAX / 4; }

}  // namespace thinwire::capi
