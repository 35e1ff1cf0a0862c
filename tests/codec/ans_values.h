// Values for tests of ans, of all the kinds that its planes may be.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "codec/words.h"

namespace thinwire::codec::testing {

// Kinds of field(), few values, gradients, gradients of which many are zeros, those of which the
// first half is zeros, and small numbers among runs of zeros, so that other words, too, have a
// highest byte of 0.
inline constexpr int kAnsFew = kKinds, kAnsGradient = kKinds + 1, kAnsHoles = kKinds + 2,
                     kAnsHalf = kKinds + 3, kAnsIslands = kKinds + 4, kAnsKinds = kKinds + 5;

// A type of words of that size.
template <typename Word>
inline constexpr Dtype kAnsDtypeOf = sizeof(Word) == 1 ? Dtype::kE4m3 : kDtypeOf<Word>;

template <typename Word>
std::vector<Word> ans_values(std::size_t count, int kind) {
  std::mt19937 random(static_cast<unsigned>(count + static_cast<std::size_t>(kind)));
  std::vector<Word> values(count);
  if (kind == kAnsFew) {
    std::geometric_distribution<int> draw(0.7);
    for (Word& value : values) value = static_cast<Word>(0x3E20 + 3 * std::min(draw(random), 9));
    return values;
  }
  if (kind == kAnsIslands) {
    bool is_sea = false;
    for (Word& value : values) {
      if (random() % 16 == 0) is_sea = !is_sea;
      value = is_sea ? Word{0} : static_cast<Word>(random() % 60 + 1);
    }
    return values;
  }
  if (kind > kAnsFew) {
    std::normal_distribution<float> draw(0, 1e-3f);
    for (std::size_t at = 0; at < count; ++at) {
      const auto bits = std::uint64_t{std::bit_cast<std::uint32_t>(draw(random))} << 32 | random();
      values[at] = static_cast<Word>(bits >> (64 - 8 * sizeof(Word)));
      if (kind == kAnsHoles && random() % 4 != 0) values[at] = 0;
      if (kind == kAnsHalf && at < count / 2) values[at] = 0;
    }
    return values;
  }
  if constexpr (sizeof(Word) == 1) {
    const auto wide = field<std::uint16_t>(count, kind);
    for (std::size_t at = 0; at < count; ++at) values[at] = static_cast<Word>(wide[at] >> 8);
    return values;
  } else {
    return field<Word>(count, kind);
  }
}

}  // namespace thinwire::codec::testing
