// Adding decoded values: conversions of 16-bit types, rounding, and NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "codec/accumulate.h"

namespace thinwire::codec {
namespace {

TEST(Half, EveryFp16ComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_of_f16(half);
    if ((bits & 0x7FFF) > 0x7C00) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_EQ(f16_of(value), 0x7E00);
    } else {
      EXPECT_EQ(f16_of(value), half) << bits;
    }
  }
}

TEST(Half, Fp16ValuesAreWhatTheirFieldsSay) {
  EXPECT_EQ(float_of_f16(0x3C00), 1.0f);
  EXPECT_EQ(float_of_f16(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(float_of_f16(0x83FF), -1023 * std::ldexp(1.0f, -24));
  EXPECT_EQ(float_of_f16(0x7BFF), 65504.0f);
  EXPECT_EQ(float_of_f16(0xFC00), -std::numeric_limits<float>::infinity());
}

// Between two neighbours of fp16 the nearer one, and the even one in the middle.
TEST(Half, Fp16RoundsToNearestEven) {
  for (std::uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const float middle =
        (float_of_f16(low) + float_of_f16(static_cast<std::uint16_t>(low + 1))) / 2;
    EXPECT_EQ(f16_of(middle), (low & 1) != 0 ? low + 1 : low) << bits;
    EXPECT_EQ(f16_of(std::nextafter(middle, 0.0f)), low) << bits;
    EXPECT_EQ(f16_of(std::nextafter(middle, 1e9f)), low + 1) << bits;
    EXPECT_EQ(f16_of(-middle), 0x8000 | f16_of(middle)) << bits;
  }
  EXPECT_EQ(f16_of(65519.996f), 0x7BFF);
  EXPECT_EQ(f16_of(65520.0f), 0x7C00);
  EXPECT_EQ(f16_of(1e30f), 0x7C00);
}

TEST(Half, Bf16RoundsToNearestEven) {
  for (std::uint32_t bits = 0; bits < 0x7F7F; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    EXPECT_EQ(bf16_of(float_of_bf16(low)), low);
    const std::uint32_t middle = bits << 16 | 0x8000;
    EXPECT_EQ(bf16_of(float_of(middle)), (low & 1) != 0 ? low + 1 : low) << bits;
    EXPECT_EQ(bf16_of(float_of(middle - 1)), low);
    EXPECT_EQ(bf16_of(float_of(middle + 1)), low + 1);
  }
  EXPECT_EQ(bf16_of(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(bf16_of(-std::numeric_limits<float>::quiet_NaN()), 0x7FC0);
}

TEST(BitsOf, HaveTheSizeOfTheirFloat) {
  static_assert(sizeof(bits_of(1.0f)) == 4 && sizeof(bits_of(1.0)) == 8);
  EXPECT_EQ(bits_of(-2.0f), 0xC0000000u);
  EXPECT_EQ(bits_of(-2.0), 0xC000000000000000u);
}

TEST(AddAndScale, RoundsAfterTheSumAndAfterTheProduct) {
  const std::uint32_t one = bits_of(1.0f);
  const std::uint32_t tiny = bits_of(std::ldexp(1.0f, -25));
  EXPECT_EQ(add_and_scale<Dtype::kF32>(one, tiny, 1.0f), one);
  EXPECT_EQ(add_and_scale<Dtype::kF32>(one, one, 0.25f), bits_of(0.5f));
  EXPECT_EQ(add_and_scale<Dtype::kF64>(bits_of(3.0), bits_of(1.0), 0.5), bits_of(2.0));
}

// 256 + 1 needs nine bits: bf16 has eight, and the sum is rounded once.
TEST(AddAndScale, SixteenBitTypesAddInFp32) {
  EXPECT_EQ(add_and_scale<Dtype::kBf16>(bf16_of(256), bf16_of(1), 1.0f), bf16_of(256));
  EXPECT_EQ(add_and_scale<Dtype::kBf16>(bf16_of(256), bf16_of(1), 0.5f), bf16_of(128.5f));
  EXPECT_EQ(add_and_scale<Dtype::kF16>(f16_of(60000), f16_of(60000), 0.5f), f16_of(60000));
}

TEST(AddAndScale, EveryNanIsTheSameOne) {
  EXPECT_EQ(add_and_scale<Dtype::kF32>(0xFFC12345u, 0x3F800000u, 1.0f), 0x7FC00000u);
  EXPECT_EQ(add_and_scale<Dtype::kF32>(0x7F800000u, 0xFF800000u, 1.0f), 0x7FC00000u);
  EXPECT_EQ(add_and_scale<Dtype::kF64>(0xFFF8000000000001u, 0, 1.0), 0x7FF8000000000000u);
  EXPECT_EQ(add_and_scale<Dtype::kBf16>(0xFFC1, 0, 1.0f), 0x7FC0);
  EXPECT_EQ(add_and_scale<Dtype::kF16>(0xFE01, 0, 1.0f), 0x7E00);
}

}  // namespace
}  // namespace thinwire::codec
