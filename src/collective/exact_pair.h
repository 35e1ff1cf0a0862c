// Totals of values as doubles, exact as long as no addition loses anything: the fast path of exact
// sums. The same bits on host and device, as it says where it does not hold.
#pragma once

#include <cstdint>

#include "base/numbers.h"

namespace thinwire::collective {

// A sum, and what rounding it lost: together exact, unless it overflows; then `rest` is NaN.
struct TwoParts {
  double sum, rest;
};

THINWIRE_HOST_DEVICE inline TwoParts add_in_two(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

// 0 if a number is 0, else not.
THINWIRE_HOST_DEVICE inline std::uint64_t if_not_zero(double number) {
  return bits_of(number) << 1;
}

// The total is sum + rest if `lost` is 0, else not known. One double has room for most sums of fp32
// and of 16-bit types, as their mantissas are short; fp64 takes two.
template <Dtype kDtype>
struct PairTotal {
  static constexpr bool kHasRest = kDtype == Dtype::kF64;

  THINWIRE_HOST_DEVICE static void add(double number, double& sum, double& rest,
                                       std::uint64_t& lost) {
    const TwoParts both = add_in_two(sum, number);
    sum = both.sum;
    if constexpr (kHasRest) {
      const TwoParts rests = add_in_two(rest, both.rest);
      rest = rests.sum;
      lost |= if_not_zero(rests.rest);
    } else {
      lost |= if_not_zero(both.rest);
    }
  }
};

// ---- To the element's type ----

// The double rounded to odd: rounded once more to a type of fewer bits, it is as if it was rounded
// once.
THINWIRE_HOST_DEVICE inline float odd_float_of(double number) {
  const auto nearest = static_cast<float>(number);
  const std::uint32_t bits = bits_of(nearest);
  const double back = nearest;
  const bool is_above = (back < 0 ? -back : back) > (number < 0 ? -number : number);
  const bool is_done = back == number || number != number || (bits & 1) != 0;
  return is_done ? nearest : float_of(is_above ? bits - 1 : bits + 1);
}

template <Dtype kDtype>
THINWIRE_HOST_DEVICE WordOf<kDtype> word_of_double(double number) {
  if constexpr (kDtype == Dtype::kF64) {
    return word_of<kDtype>(number);
  } else if constexpr (kDtype == Dtype::kF32) {
    return word_of<kDtype>(static_cast<float>(number));
  } else {
    return word_of<kDtype>(odd_float_of(number));
  }
}

// The sign of 0 is the sum's, which is -0 if all values are.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE WordOf<kDtype> word_of_pair(double sum, double rest) {
  return word_of_double<kDtype>(rest == 0 ? sum : sum + rest);
}

// ---- Means ----

// Whether (sum + rest) / divisor is found, rounded to a double once. A quotient and what division
// left of the dividend: the two are rounded together, and that is sure if a bit more or less of the
// latter changes nothing.
THINWIRE_HOST_DEVICE inline bool divide_pair(double sum, double rest, double divisor, double& to) {
  const TwoParts whole = add_in_two(sum, rest);
  to = rest == 0 ? sum : whole.sum;
  if (to == 0) return true;
  const double quotient = whole.sum / divisor;
  const double magnitude = quotient < 0 ? -quotient : quotient;
  constexpr double kLeast = 0x1p-900, kMost = 0x1p900, kMostDivisor = 0x1p26;
  if (!(magnitude > kLeast && magnitude < kMost && divisor < kMostDivisor)) return false;
  constexpr double kSplit = 0x1p27 + 1;
  const double shifted = quotient * kSplit;
  const double high = shifted - (shifted - quotient), low = quotient - high;
  const double left = ((whole.sum - high * divisor) - low * divisor) + whole.rest;
  const double more = left / divisor;
  to = quotient + more * (1 - 0x1p-50);
  return to == quotient + more * (1 + 0x1p-50);
}

// Whether number / divisor is found, rounded to a type of fewer bits: unless the double is rounded
// onto the border between two values, or is it, and both its neighbours go to the same one.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE bool divide_single(double number, double divisor, bool is_power_of_two,
                                        WordOf<kDtype>& to) {
  const double quotient = number / divisor;
  to = word_of_double<kDtype>(quotient);
  if (is_power_of_two || number == 0) return true;
  const std::uint64_t bits = bits_of(quotient);
  return word_of_double<kDtype>(double_of(bits - 1)) == word_of_double<kDtype>(double_of(bits + 1));
}

// Whether a total by a divisor above 1 is found, as divide_pair() and divide_single() have it.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE bool mean_of_pair(double sum, double rest, std::uint32_t divisor,
                                       WordOf<kDtype>& to) {
  if constexpr (kDtype == Dtype::kF64) {
    double quotient = 0;
    const bool is_found = divide_pair(sum, rest, divisor, quotient);
    to = word_of<kDtype>(quotient);
    return is_found;
  } else {
    return divide_single<kDtype>(sum, divisor, (divisor & (divisor - 1)) == 0, to);
  }
}

}  // namespace thinwire::collective
