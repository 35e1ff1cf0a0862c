// Whether a value is the exact sum of others, rounded once.
#pragma once

#include <cmath>
#include <vector>

#include "collective/exact.h"
#include "exact_sum.h"

namespace thinwire::collective {

// The finite number of a magnitude's bits; one beyond the largest, which infinity's bits stand for.
template <Dtype kDtype>
double magnitude_of(std::uint64_t bits) {
  using Format = FloatFormat<kDtype>;
  if (bits < Format::kInfinity) return number_of<kDtype>(static_cast<WordOf<kDtype>>(bits));
  const double largest = number_of<kDtype>(static_cast<WordOf<kDtype>>(Format::kInfinity - 1));
  return std::ldexp(1, std::ilogb(largest) + 1);
}

// Whether `found` is the sum of finite numbers by `divisor`, rounded to nearest, ties to even:
// twice the sum lies between the neighbours' middles.
template <Dtype kDtype>
bool is_nearest_sum(const std::vector<double>& numbers, WordOf<kDtype> found,
                    std::uint32_t divisor = 1) {
  using Format = FloatFormat<kDtype>;
  ExactSum sum;
  for (const double number : numbers) sum.add(number);
  const std::uint64_t bits = found & ~Format::kSign;
  if (bits > Format::kInfinity) return false;
  const int sign = (found & Format::kSign) != 0 ? -1 : 1;
  const auto side = [&](std::uint64_t neighbour) {
    ExactSum twice = sum;
    twice.join(sum);
    for (std::uint32_t times = 0; times < divisor; ++times) {
      twice.add(-sign * magnitude_of<kDtype>(bits));
      twice.add(-sign * magnitude_of<kDtype>(neighbour));
    }
    return sign * twice.sign();
  };
  const bool is_even = (bits & 1) == 0;
  const int above = bits < Format::kInfinity ? side(bits + 1) : -1;
  // 0 has the sign of what it was rounded from, or none.
  const int below = bits > 0 ? side(bits - 1) : 1;
  return (above < 0 || (above == 0 && is_even)) && (below > 0 || (below == 0 && is_even));
}

}  // namespace thinwire::collective
