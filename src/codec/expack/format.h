// The types that expack takes: where their fields lie. Host and device code.
#pragma once

#include "base/dtype.h"

namespace thinwire::codec::expack {

template <Dtype kDtype>
struct Format;

template <>
struct Format<Dtype::kBf16> {
  static constexpr int kValueBytes = 2;
  static constexpr int kLargest = 255;     // exponent
  static constexpr int kShift = 7;         // of the exponent in a value
  static constexpr int kVerbatimBits = 8;  // of a value
};

template <>
struct Format<Dtype::kF16> {
  static constexpr int kValueBytes = 2;
  static constexpr int kLargest = 31;
  static constexpr int kShift = 10;
  static constexpr int kVerbatimBits = 11;  // of a value
};

template <>
struct Format<Dtype::kE4m3> {
  static constexpr int kValueBytes = 1;
  static constexpr int kLargest = 15;
  static constexpr int kShift = 3;
  static constexpr int kVerbatimBits = 4;  // of a value
};

template <>
struct Format<Dtype::kE5m2> {
  static constexpr int kValueBytes = 1;
  static constexpr int kLargest = 31;
  static constexpr int kShift = 2;
  static constexpr int kVerbatimBits = 3;  // of a value
};

template <>
struct Format<Dtype::kF32> {
  static constexpr int kValueBytes = 4;
  static constexpr int kLargest = 255;
  static constexpr int kShift = 23;
  static constexpr int kVerbatimBits = 24;  // of a value
};

// True if mantissas end in a plane of two bits a value, after which comes one of signs.
template <Dtype kDtype>
inline constexpr bool kHasPairs = kDtype == Dtype::kF16 || kDtype == Dtype::kE5m2;

}  // namespace thinwire::codec::expack
