// Blocks of a line of fp64 side by side: what their coder (double_line.cpp) does to all of them at
// once. The loops over a group are what the compiler vectorises.
#pragma once

#include <cstdint>

#include "codec/zfp/exponent.h"
#include "codec/zfp/line_bits.h"
#include "codec/zfp/line_groups.h"
#include "codec/zfp/transform.h"
#include "codec/zfp/vectors.h"

namespace thinwire::codec::zfp {

inline constexpr int kQuarter = kVectorBytes / 8;

struct DoubleGroup {
  alignas(64) double values[kLineValues][kGroup];
  alignas(64) std::int64_t largest[kGroup];
  alignas(64) std::uint64_t header[kGroup];
  alignas(64) double scale[kGroup];
  alignas(64) std::uint64_t wide[kLineValues][kGroup];                 // coefficients
  alignas(64) std::uint32_t coefficients[kLineValues][kGroup];         // their upper halves
  alignas(64) std::uint64_t high[kGroup], low[kGroup], pairs[kGroup];  // as Planes has them
};

// ---- Values in and out ----

inline void load_values(const double* line, DoubleGroup& group) {
  for (int first = 0; first < kGroup; first += kQuarter) {
    Vector<double> row[4];
    for (int i = 0; i < 4; ++i) load_vector<double>(line + (first + i) * kLineValues, row[i]);
    transpose_fours<double>(row);
    for (int i = 0; i < 4; ++i) store_vector<double>(group.values[i] + first, row[i]);
  }
}

inline void store_values(const DoubleGroup& group, double* line) {
  for (int first = 0; first < kGroup; first += kQuarter) {
    Vector<double> row[4];
    for (int i = 0; i < 4; ++i) load_vector<double>(group.values[i] + first, row[i]);
    transpose_fours<double>(row);
    for (int i = 0; i < 4; ++i) store_vector<double>(line + (first + i) * kLineValues, row[i]);
  }
}

// Reads `count` values, 1 to kGroupValues.
inline void load_group(const std::byte* source, std::uint64_t count, DoubleGroup& group) {
  double line[kGroupValues];
  read_group(source, count, line);
  load_values(line, group);
}

// ---- Encoding ----

// False if a value is NaN or infinite.
inline bool find_exponents(DoubleGroup& group) {
  std::int64_t most = 0;
  for (int at = 0; at < kGroup; ++at) group.largest[at] = 0;
  for (int i = 0; i < kLineValues; ++i) {
    for (int at = 0; at < kGroup; ++at) {
      const std::int64_t magnitude = magnitude_bits(group.values[i][at]);
      group.largest[at] = magnitude > group.largest[at] ? magnitude : group.largest[at];
    }
  }
  for (int at = 0; at < kGroup; ++at) {
    most = group.largest[at] > most ? group.largest[at] : most;
    group.header[at] = static_cast<std::uint64_t>(block_header<double>(group.largest[at]));
    group.scale[at] = forward_scale<double>(group.largest[at]);
  }
  return most < kInfinityBits<double>;
}

// Short streams have 16 planes at most.
template <bool kIsShort>
inline void transform_group(DoubleGroup& group) {
  auto& wide = group.wide;
  for (int i = 0; i < kLineValues; ++i) {
    for (int at = 0; at < kGroup; ++at) {
      wide[i][at] = quantise(group.values[i][at], group.scale[at]);
    }
  }
  for (int at = 0; at < kGroup; ++at) {
    auto x = wide[0][at], y = wide[1][at], z = wide[2][at], w = wide[3][at];
    forward_lift(x, y, z, w);
    wide[0][at] = to_negabinary(x);
    wide[1][at] = to_negabinary(y);
    wide[2][at] = to_negabinary(z);
    wide[3][at] = to_negabinary(w);
  }
  for (int at = 0; at < kGroup; ++at) {
    const auto x = wide[0][at], y = wide[1][at], z = wide[2][at], w = wide[3][at];
    constexpr std::uint64_t kTop = 0xffff000000000000;
    group.high[at] = lanes_to_nibbles((x & kTop) | (y & kTop) >> 16 | (z & kTop) >> 32 | w >> 48);
    if constexpr (kIsShort) continue;
    group.low[at] = lanes_to_nibbles((x << 16 & kTop) | (y << 16 & kTop) >> 16 |
                                     (z << 16 & kTop) >> 32 | w << 16 >> 48);
    group.pairs[at] = spread(static_cast<std::uint32_t>(x >> 32)) << 1 |
                      spread(static_cast<std::uint32_t>(y >> 32));
  }
}

// The upper halves of the coefficients, from planes.
inline void coefficients_of_planes(DoubleGroup& group) {
  for (int at = 0; at < kGroup; ++at) {
    const Block upper =
        from_planes({.high = group.high[at], .low = group.low[at], .pairs = group.pairs[at]});
    group.coefficients[0][at] = upper.x;
    group.coefficients[1][at] = upper.y;
    group.coefficients[2][at] = upper.z;
    group.coefficients[3][at] = upper.w;
  }
}

// The values, of coefficients whose lower halves and two lowest bits of the upper ones are 0: no
// step of the inverse transform gives them others below, so that it is that of 32 bits.
inline void restore_group(DoubleGroup& group) {
  for (int at = 0; at < kGroup; ++at) {
    auto x = from_negabinary(group.coefficients[0][at]),
         y = from_negabinary(group.coefficients[1][at]),
         z = from_negabinary(group.coefficients[2][at]),
         w = from_negabinary(group.coefficients[3][at]);
    inverse_lift(x, y, z, w);
    group.coefficients[0][at] = x;
    group.coefficients[1][at] = y;
    group.coefficients[2][at] = z;
    group.coefficients[3][at] = w;
  }
  for (int at = 0; at < kGroup; ++at) group.scale[at] *= 0x1p32;
  for (int i = 0; i < kLineValues; ++i) {
    for (int at = 0; at < kGroup; ++at) {
      group.values[i][at] =
          static_cast<double>(static_cast<std::int32_t>(group.coefficients[i][at])) *
          group.scale[at];
    }
  }
}

}  // namespace thinwire::codec::zfp
