// Exact sums: the total of a few values as if with as many bits as it takes, rounded to nearest,
// ties to even, once. So its bits depend neither on the order of the values nor on their number.
// The same bits on host and device, whichever path makes them.
//
// Most totals come from doubles that lose nothing (exact_pair.h); this is the one for all others:
// an integer in units of the least number there is.
#pragma once

#include <cstdint>

#include "base/numbers.h"

// Before a loop over digits, which the device is to keep in memory: in registers they have no room.
#if defined(__CUDA_ARCH__)
#define THINWIRE_ONE_BY_ONE _Pragma("unroll 1")
#else
#define THINWIRE_ONE_BY_ONE
#endif

namespace thinwire::collective {

// The bits of a float type: `kMantissa` with the leading one, `kLeast` the exponent of the least
// number above 0.
template <Dtype kDtype>
struct FloatFormat {
  static constexpr int kMantissa = kDtype == Dtype::kF64   ? 53
                                   : kDtype == Dtype::kF32 ? 24
                                   : kDtype == Dtype::kF16 ? 11
                                                           : 8;
  static constexpr int kLeast = kDtype == Dtype::kF64   ? -1074
                                : kDtype == Dtype::kF32 ? -149
                                : kDtype == Dtype::kF16 ? -24
                                                        : -133;
  static constexpr std::uint64_t kSign = std::uint64_t{1} << (8 * dtype_size(kDtype) - 1);
  static constexpr std::uint64_t kInfinity = kSign - (std::uint64_t{1} << (kMantissa - 1));
};

// A total of up to 2^31 numbers, as values of kDtype are added: 16-bit types as fp32.
template <Dtype kDtype>
class ExactTotal {
 public:
  THINWIRE_HOST_DEVICE void add(NumberOf<kDtype> number) {
    const std::uint64_t bits = bits_of(number);
    const bool is_negative = (bits & Number::kSign) != 0;
    const std::uint64_t magnitude = bits & ~Number::kSign;
    is_minus_zero_ = is_minus_zero_ && bits == Number::kSign;
    if (magnitude >= Number::kInfinity) {
      is_nan_ = is_nan_ || magnitude > Number::kInfinity;
      (is_negative ? has_minus_infinity_ : has_infinity_) = true;
      return;
    }
    const int exponent = static_cast<int>(magnitude >> kStored);
    const std::uint64_t stored = magnitude & ((std::uint64_t{1} << kStored) - 1);
    const std::uint64_t mantissa = exponent == 0 ? stored : stored | std::uint64_t{1} << kStored;
    add_at(exponent == 0 ? 0 : exponent - 1, mantissa, is_negative);
  }

  // The total by `divisor`, rounded to the type.
  THINWIRE_HOST_DEVICE WordOf<kDtype> rounded(std::uint32_t divisor = 1) {
    using Format = FloatFormat<kDtype>;
    if (is_nan_ || (has_infinity_ && has_minus_infinity_)) return nan_word<kDtype>();
    if (has_infinity_) return static_cast<WordOf<kDtype>>(Format::kInfinity);
    if (has_minus_infinity_) return static_cast<WordOf<kDtype>>(Format::kSign | Format::kInfinity);
    const bool is_negative = carry() || is_minus_zero_;
    const std::uint64_t magnitude = round_magnitude(divisor);
    return static_cast<WordOf<kDtype>>((is_negative ? Format::kSign : 0) | magnitude);
  }

 private:
  using Number = FloatFormat<sizeof(NumberOf<kDtype>) == 8 ? Dtype::kF64 : Dtype::kF32>;
  static constexpr int kStored = Number::kMantissa - 1;  // bits of a mantissa in memory
  // Digits of 32 bits, in 64 so that carries wait. 31 bits above the largest number.
  static constexpr int kBits = static_cast<int>(Number::kInfinity >> kStored) - 1 + kStored;
  static constexpr int kDigits = (kBits + 31 + 31) / 32;
  static constexpr std::uint64_t kMask = 0xFFFFFFFFu;

  THINWIRE_HOST_DEVICE void add_at(int bit, std::uint64_t mantissa, bool is_negative) {
    const int digit = bit / 32, shift = bit % 32;
    const std::uint64_t low = mantissa << shift;
    const std::uint64_t parts[3] = {low & kMask, low >> 32,
                                    shift == 0 ? 0 : mantissa >> (64 - shift)};
    constexpr int kParts = kStored + 32 > 64 ? 3 : 2;
    THINWIRE_UNROLL
    for (int part = 0; part < kParts; ++part) {
      const auto value = static_cast<std::int64_t>(parts[part]);
      digits_[digit + part] += is_negative ? -value : value;
    }
  }

  // Leaves the magnitude in digits of 32 bits; whether the total is below 0.
  THINWIRE_HOST_DEVICE bool carry() {
    std::int64_t carried = 0;
    THINWIRE_ONE_BY_ONE
    for (std::int64_t& digit : digits_) {
      carried += digit;
      digit = static_cast<std::int64_t>(static_cast<std::uint64_t>(carried) & kMask);
      carried >>= 32;
    }
    if (carried == 0) return false;
    std::uint64_t one = 1;
    THINWIRE_ONE_BY_ONE
    for (std::int64_t& digit : digits_) {
      const std::uint64_t negated = (static_cast<std::uint64_t>(digit) ^ kMask) + one;
      digit = static_cast<std::int64_t>(negated & kMask);
      one = negated >> 32;
    }
    return true;
  }

  // Divides; the first 32 bits of what is left, and whether there is more.
  THINWIRE_HOST_DEVICE std::uint32_t divide(std::uint32_t divisor, bool& more) {
    std::uint64_t left = 0;
    THINWIRE_ONE_BY_ONE
    for (int at = kDigits - 1; at >= 0; --at) {
      left = left << 32 | static_cast<std::uint64_t>(digits_[at]);
      digits_[at] = static_cast<std::int64_t>(left / divisor);
      left %= divisor;
    }
    left <<= 32;
    more = left % divisor != 0;
    return static_cast<std::uint32_t>(left / divisor);
  }

  // The number of the highest bit that is set; -1: none is.
  THINWIRE_HOST_DEVICE int highest_bit() const {
    THINWIRE_ONE_BY_ONE
    for (int at = kDigits - 1; at >= 0; --at) {
      if (digits_[at] == 0) continue;
      int bit = 31;
      while ((digits_[at] >> bit & 1) == 0) --bit;
      return 32 * at + bit;
    }
    return -1;
  }

  THINWIRE_HOST_DEVICE std::uint64_t digit(int at) const {
    return at < kDigits ? static_cast<std::uint64_t>(digits_[at]) : 0;
  }

  // 53 bits and more from `bit` on.
  THINWIRE_HOST_DEVICE std::uint64_t bits_from(int bit) const {
    const int at = bit / 32, shift = bit % 32;
    const std::uint64_t low = (digit(at) | digit(at + 1) << 32) >> shift;
    return shift == 0 ? low : low | digit(at + 2) << (64 - shift);
  }

  // Whether a bit below `bit` is set.
  THINWIRE_HOST_DEVICE bool has_bits_below(int bit) const {
    const int last = bit / 32;
    THINWIRE_ONE_BY_ONE
    for (int at = 0; at < last; ++at) {
      if (digits_[at] != 0) return true;
    }
    return (digit(last) & ((std::uint64_t{1} << bit % 32) - 1)) != 0;
  }

  THINWIRE_HOST_DEVICE std::uint64_t round_magnitude(std::uint32_t divisor) {
    using Format = FloatFormat<kDtype>;
    bool more = false;
    const std::uint32_t fraction = divisor > 1 ? divide(divisor, more) : 0;
    // The lowest bit that is kept, in units of the least number that is added.
    constexpr int kLeast = Format::kLeast - Number::kLeast;
    int kept = highest_bit() - Format::kMantissa + 1;
    if (kept < kLeast) kept = kLeast;
    std::uint64_t mantissa = bits_from(kept) & ((std::uint64_t{1} << Format::kMantissa) - 1);
    bool half = fraction >> 31 != 0, below = more || fraction << 1 != 0;
    if (kept > 0) {
      half = (bits_from(kept - 1) & 1) != 0;
      below = more || fraction != 0 || has_bits_below(kept - 1);
    }
    if (half && (below || (mantissa & 1) != 0)) ++mantissa;
    // The leading bit of a mantissa adds one to the exponent.
    const std::uint64_t exponent = static_cast<std::uint64_t>(kept - kLeast);
    const std::uint64_t magnitude = (exponent << (Format::kMantissa - 1)) + mantissa;
    return magnitude < Format::kInfinity ? magnitude : Format::kInfinity;
  }

  std::int64_t digits_[kDigits] = {};
  bool is_minus_zero_ = true;  // as long as all values are
  bool is_nan_ = false, has_infinity_ = false, has_minus_infinity_ = false;
};

}  // namespace thinwire::collective

#undef THINWIRE_ONE_BY_ONE
