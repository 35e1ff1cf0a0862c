// ZFP's decorrelating transform of a block's integers, their order, and negabinary. Unsigned words
// stand for two's complement, so that nothing overflows. See spec/codec-zfp.md.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/host_device.h"
#include "codec/zfp/bits.h"

namespace thinwire::codec::zfp {

template <int kRank>
inline constexpr int kBlockValues = 1 << (2 * kRank);

template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word halve(Word value) {
  return static_cast<Word>(static_cast<std::make_signed_t<Word>>(value) >> 1);
}

// (a, b) becomes (their mean rounded down, half their difference).
template <typename Word>
THINWIRE_HOST_DEVICE constexpr void split(Word& a, Word& b) {
  a = halve<Word>(a + b);
  b -= a;
}

// Undoes split() up to the bit that it dropped.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr void join(Word& a, Word& b) {
  b += a;
  a = 2 * a - b;
}

template <typename Word>
THINWIRE_HOST_DEVICE constexpr void forward_lift(Word& x, Word& y, Word& z, Word& w) {
  split(x, w);
  split(z, y);
  split(x, z);
  split(w, y);
  w += halve(y);
  y -= halve(w);
}

template <typename Word>
THINWIRE_HOST_DEVICE constexpr void inverse_lift(Word& x, Word& y, Word& z, Word& w) {
  y += halve(w);
  w -= halve(y);
  join(w, y);
  join(x, z);
  join(z, y);
  join(x, w);
}

// The position in a block at which the i-th line along the axis of stride `stride` begins, for
// strides 1, 4, 16.
THINWIRE_HOST_DEVICE constexpr int line_start(int i, int stride) {
  return i / stride * 4 * stride + i % stride;
}

template <int kStride, int kValues, typename Word>
THINWIRE_HOST_DEVICE constexpr void forward_axis(Word (&block)[kValues]) {
  THINWIRE_UNROLL
  for (int i = 0; i < kValues / 4; ++i) {
    const int at = line_start(i, kStride);
    forward_lift(block[at], block[at + kStride], block[at + 2 * kStride], block[at + 3 * kStride]);
  }
}

template <int kStride, int kValues, typename Word>
THINWIRE_HOST_DEVICE constexpr void inverse_axis(Word (&block)[kValues]) {
  THINWIRE_UNROLL
  for (int i = 0; i < kValues / 4; ++i) {
    const int at = line_start(i, kStride);
    inverse_lift(block[at], block[at + kStride], block[at + 2 * kStride], block[at + 3 * kStride]);
  }
}

template <int kRank, typename Word>
THINWIRE_HOST_DEVICE constexpr void forward_transform(Word (&block)[kBlockValues<kRank>]) {
  forward_axis<1>(block);
  if constexpr (kRank > 1) forward_axis<4>(block);
  if constexpr (kRank > 2) forward_axis<16>(block);
}

template <int kRank, typename Word>
THINWIRE_HOST_DEVICE constexpr void inverse_transform(Word (&block)[kBlockValues<kRank>]) {
  if constexpr (kRank > 2) inverse_axis<16>(block);
  if constexpr (kRank > 1) inverse_axis<4>(block);
  inverse_axis<1>(block);
}

// ---- Negabinary (base -2) has no sign bit: small numbers of either sign have zeros in all high
// planes ----

template <typename Word>
inline constexpr Word kNegabinaryMask = static_cast<Word>(0xaaaaaaaaaaaaaaaa);

template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word to_negabinary(Word value) {
  return (value + kNegabinaryMask<Word>)^kNegabinaryMask<Word>;
}

template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word from_negabinary(Word value) {
  return (value ^ kNegabinaryMask<Word>)-kNegabinaryMask<Word>;
}

// ---- Sequency: coefficient i of a stream is that at place kSequency[i] of the block ----

template <int kRank>
inline constexpr std::uint8_t kSequency[kBlockValues<kRank>] = {};
template <>
inline constexpr std::uint8_t kSequency<1>[4] = {0, 1, 2, 3};
template <>
inline constexpr std::uint8_t kSequency<2>[16] = {0, 1,  4,  5, 2,  8,  6,  9,
                                                  3, 12, 10, 7, 13, 11, 14, 15};
template <>
inline constexpr std::uint8_t kSequency<3>[64] = {
    0,  1,  4,  16, 20, 17, 5,  2,  8,  32, 21, 6,  18, 24, 9,  33, 36, 3,  12, 48, 22, 25,
    37, 40, 34, 10, 7,  19, 28, 13, 49, 52, 41, 38, 26, 23, 29, 53, 11, 35, 44, 14, 50, 56,
    42, 27, 39, 45, 30, 54, 57, 60, 51, 15, 43, 46, 58, 61, 55, 31, 62, 59, 47, 63};

// Calls body(integral_constant i, integral_constant place) for each coefficient i. Constants,
// because arrays of the host are not there on the device, and registers have no addresses.
template <int kRank, typename Body>
THINWIRE_HOST_DEVICE constexpr void for_each_coefficient(const Body& body) {
  [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) {
    (body(
         std::integral_constant<int, kIndex>{},
         std::integral_constant<int, kSequency<kRank>[kIndex]> {}),
     ...);
  }(std::make_integer_sequence<int, kBlockValues<kRank>>{});
}

}  // namespace thinwire::codec::zfp
