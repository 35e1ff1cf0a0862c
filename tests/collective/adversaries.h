// Arrays that reductions under a bound find hard.
#pragma once

#include <limits>
#include <random>

#include "collective/reductions.h"

namespace thinwire::collective {

enum class Kind {
  kSmooth,
  kNearTies,        // in the middle of two lattice points, but for a rounding or none
  kMixed,           // magnitudes from below the bound to 2^16 of it
  kCancelling,      // large contributions, a small sum
  kSpecials,        // NaN and infinities among others
  kSubnormal,       // tiny beside the bound
  kIncompressible,  // so many digits that chunks stay as they are
  kExtreme,         // as large as sums without overflow let them be
};
inline constexpr Kind kKinds[] = {Kind::kSmooth,         Kind::kNearTies, Kind::kMixed,
                                  Kind::kCancelling,     Kind::kSpecials, Kind::kSubnormal,
                                  Kind::kIncompressible, Kind::kExtreme};

// `step` of the lattice that the arrays are to be hard for.
template <typename Value>
Value hard_value(Kind kind, double step, std::size_t rank, std::size_t at, std::mt19937_64& bits) {
  constexpr Value kMost = std::numeric_limits<Value>::max();
  const auto integer = [&](int below) {
    return static_cast<double>(static_cast<int>(bits() % (2u * below)) - below);
  };
  const double unit = static_cast<double>(bits() >> 11) * 0x1p-52 - 1;
  switch (kind) {
    case Kind::kSmooth:
      return static_cast<Value>(1000 * step * std::sin(0.01 * at + rank));
    case Kind::kNearTies: {
      const auto tie = static_cast<Value>((integer(2000) + 0.5) * step);
      const auto nudge = bits() % 3;
      return nudge == 0 ? tie : std::nextafter(tie, nudge == 1 ? kMost : -kMost);
    }
    case Kind::kMixed:
      return static_cast<Value>(unit * step * std::exp2(integer(16)));
    case Kind::kCancelling: {
      const double large = 3000 * step * std::cos(0.37 * static_cast<double>(at));
      return static_cast<Value>((rank % 2 == 0 ? large : -large) + unit * step);
    }
    case Kind::kSpecials: {
      if (bits() % 16 != 0) return static_cast<Value>(unit * 100 * step);
      const Value specials[] = {std::numeric_limits<Value>::quiet_NaN(),
                                std::numeric_limits<Value>::infinity(),
                                -std::numeric_limits<Value>::infinity(), Value{-0.0}};
      return specials[bits() % 4];
    }
    case Kind::kSubnormal:
      return std::numeric_limits<Value>::denorm_min() * static_cast<Value>(integer(1 << 20));
    case Kind::kIncompressible:
      return static_cast<Value>(unit * step * 1e6);
    case Kind::kExtreme:
      return static_cast<Value>(kMost / 1024 * static_cast<Value>(unit));
  }
  return 0;
}

template <typename Value>
Ranks<Value> hard_arrays(Kind kind, double step, std::size_t ranks, std::size_t count,
                         unsigned seed) {
  std::mt19937_64 bits(seed);
  Ranks<Value> arrays(ranks, Array<Value>(count));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t at = 0; at < count; ++at) {
      arrays[rank][at] = hard_value<Value>(kind, step, rank, at, bits);
    }
  }
  return arrays;
}

}  // namespace thinwire::collective
