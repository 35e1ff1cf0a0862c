// Magnitudes of values, and the few that stand far above all others.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "message/float_words.h"

namespace thinwire::message {

struct Magnitudes {
  std::uint64_t largest = 0;           // of finite values, as a word
  std::uint64_t above = 0, below = 0;  // values above 2^48, and not 0 below 2^-48
};
Magnitudes magnitudes_of(Dtype dtype, const std::byte* values, std::uint64_t count);

// The ends of a whole array.
struct Extremes {
  std::uint64_t largest = 0;  // magnitude of finite values, as a word
  bool has_nan = false;
};
Extremes extremes_of(Dtype dtype, const std::byte* values, std::uint64_t count);

// The values within a factor of 2^20 of the largest, if they are of few kinds. NaN and infinity
// count for nothing.
template <typename Bits>
struct Apart {
  Bits kind[kMostFills] = {};
  int kinds = 0;
  bool is_few = true;
  bool has_others = false;  // that are smaller, and not 0

  bool knows(Bits value) const {
    return value == kind[0] || value == kind[1] || value == kind[2] || value == kind[3];
  }
};

// Finds those of an array whose largest magnitude is `largest`. Most arrays end it after a few
// values.
template <typename F>
Apart<typename F::Bits> find_apart(const std::byte* values, std::uint64_t count,
                                   std::uint64_t largest) {
  using Bits = typename F::Bits;
  constexpr std::uint64_t kAtOnce = 256;
  Apart<Bits> apart;
  apart.is_few = largest > F::kGap;
  const Bits least = static_cast<Bits>(largest - F::kGap);
  const auto is_apart = [=](Bits bits) { return bits >= least && bits < F::kInfinity; };
  for (std::uint64_t first = 0; first < count && apart.is_few; first += kAtOnce) {
    const std::uint64_t end = first + kAtOnce < count ? first + kAtOnce : count;
    unsigned is_new = 0, is_other = 0;
    for (std::uint64_t at = first; at < end; ++at) {
      const Bits own = load<Bits>(values + at * sizeof(Bits));
      const auto bits = static_cast<Bits>(own & F::kMagnitude);
      is_new |= static_cast<unsigned>(is_apart(bits) & !apart.knows(own));
      is_other |= static_cast<unsigned>((bits < least) & (bits != 0));
    }
    apart.has_others |= is_other != 0;
    for (std::uint64_t at = first; at < end && is_new != 0 && apart.is_few; ++at) {
      const Bits own = load<Bits>(values + at * sizeof(Bits));
      if (!is_apart(static_cast<Bits>(own & F::kMagnitude)) || apart.knows(own)) continue;
      apart.is_few = apart.kinds < kMostFills;
      if (apart.is_few) apart.kind[apart.kinds++] = own;
    }
  }
  return apart;
}

}  // namespace thinwire::message
