// Arrays of words for the tests of codecs that keep every bit, and what a codec makes of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "codec/codec.h"

namespace thinwire::codec::testing {

// A dtype whose values have the size of `Word`.
template <typename Word>
constexpr Dtype kDtypeOf = sizeof(Word) == 8   ? Dtype::kF64
                           : sizeof(Word) == 4 ? Dtype::kF32
                                               : Dtype::kBf16;

inline Shape shape_of(std::initializer_list<std::uint64_t> extents) {
  Shape shape{.rank = static_cast<int>(extents.size()), .extent = {}};
  std::copy(extents.begin(), extents.end(), shape.extent.begin());
  return shape;
}

// ---- Values ----

enum Kind { kSmooth, kRandom, kZero, kSparse, kConstant, kSpecial, kKinds };

// The bits of a value as `Word` holds them: two bytes are the upper half of an fp32.
template <typename Word>
Word word_of(double value) {
  if constexpr (sizeof(Word) == 8) return std::bit_cast<Word>(value);
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<Word>(sizeof(Word) == 2 ? bits >> 16 : bits);
}

template <typename Word>
Word special(std::size_t at) {
  using Float = std::conditional_t<sizeof(Word) == 8, double, float>;
  using Limits = std::numeric_limits<Float>;
  constexpr Float kSpecials[] = {
      Limits::quiet_NaN(),  -Limits::signaling_NaN(), Limits::infinity(), Float{-0.0},     Float{0},
      Limits::denorm_min(), -Limits::denorm_min(),    Limits::max(),      Limits::lowest()};
  auto bits = std::bit_cast<std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>>(
      kSpecials[at % std::size(kSpecials)]);
  // A NaN with a payload now and then.
  if (at % 17 == 3) bits |= 0x12345;
  return static_cast<Word>(sizeof(Word) == 2 ? bits >> 16 : bits);
}

template <typename Word>
std::vector<Word> field(std::size_t count, int kind) {
  std::mt19937_64 random(count * 8 + static_cast<unsigned>(kind));
  std::vector<Word> values(count);
  for (std::size_t at = 0; at < count; ++at) {
    if (kind == kSmooth) values[at] = word_of<Word>(std::sin(0.01 * static_cast<double>(at)));
    if (kind == kRandom) values[at] = static_cast<Word>(random());
    if (kind == kSparse && random() % 10 == 0) values[at] = static_cast<Word>(random());
    if (kind == kConstant) values[at] = static_cast<Word>(0x40490FDB);
    if (kind == kSpecial) values[at] = special<Word>(at);
  }
  return values;
}

// ---- One chunk ----

// The payload, nothing being written after its bound.
inline std::vector<std::byte> encoded(const Codec& codec, const std::byte* source,
                                      const Chunk& chunk, std::uint64_t parameter) {
  const std::uint64_t bound = codec.bound(chunk, parameter);
  std::vector<std::byte> out(bound + 64, std::byte{0xC5});
  const auto written = codec.encode(source, chunk, parameter, out.data());
  EXPECT_TRUE(written.ok());
  for (std::size_t at = bound; at < out.size(); ++at) {
    EXPECT_EQ(out[at], std::byte{0xC5}) << "written behind the bound";
  }
  EXPECT_LE(*written, bound);
  out.resize(*written);
  return out;
}

template <typename Word>
std::vector<std::byte> encoded(const Codec& codec, const std::vector<Word>& values,
                               const Shape& shape, std::uint64_t parameter) {
  return encoded(codec, reinterpret_cast<const std::byte*>(values.data()), {kDtypeOf<Word>, shape},
                 parameter);
}

template <typename Word>
Status decoded(const Codec& codec, const std::vector<std::byte>& payload, const Shape& shape,
               std::uint64_t parameter, std::vector<Word>& out) {
  // Fresh memory of just this size, so that reading after it is seen.
  const std::vector<std::byte> exact(payload);
  out.assign(shape.count(), static_cast<Word>(0x5A5A));
  return codec.decode(exact, {kDtypeOf<Word>, shape}, parameter,
                      reinterpret_cast<std::byte*>(out.data()));
}

// The values become `plain`, what a plain reading of the codec's page makes of them, and come back.
template <typename Word>
void expect_coded_as(const Codec& codec, const std::vector<Word>& values, const Shape& shape,
                     std::uint64_t parameter, const std::vector<std::byte>& plain) {
  const auto payload = encoded(codec, values, shape, parameter);
  ASSERT_EQ(payload, plain);
  std::vector<Word> out;
  const Status status = decoded(codec, payload, shape, parameter, out);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(out, values);
}

}  // namespace thinwire::codec::testing
