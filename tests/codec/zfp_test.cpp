// The codec's row by itself: parameters, sizes, refusals, memory safety, determinism.
#include <gtest/gtest.h>

#include "codec/registry.h"
#include "codec/spec.h"
#include "codec/zfp/sizes.h"
#include "codec/zfp_arrays.h"

namespace thinwire::codec::testing {
namespace {

std::uint64_t parameter_of(const std::string& spec) {
  const auto parsed = parse_spec(spec);
  EXPECT_TRUE(parsed.ok()) << spec << ": " << parsed.status().message();
  return parsed.ok() ? parsed->parameter : 0;
}

template <typename Scalar>
class Zfp : public ::testing::Test {};
TYPED_TEST_SUITE(Zfp, ZfpScalars, DtypeNames);

TEST(ZfpSpec, RatesBecome64ths) {
  EXPECT_EQ(parameter_of("zfp:rate=16"), 1024u);
  EXPECT_EQ(parameter_of("zfp:rate=2.25"), 144u);
  EXPECT_EQ(parameter_of("zfp:rate=0.0078125"), 1u);  // half of a step, upwards
  EXPECT_EQ(parameter_of("zfp:rate=64"), 4096u);
  EXPECT_EQ(parameter_of("zfp:rate=11.3"), 723u);
  EXPECT_EQ(parameter_of("zfp:rate=8e0"), 512u);
  EXPECT_EQ(find_codec(CodecId{1}), &kZfp);
}

TEST(ZfpSpec, NormalFormMeansTheSame) {
  for (std::uint64_t rate = 1; rate <= 4096; ++rate) {
    const std::string options = kZfp.describe(rate);
    EXPECT_EQ(parameter_of("zfp:" + options), rate) << options;
    EXPECT_TRUE(kZfp.check(rate, Dtype::kF64, 3).ok());
  }
  EXPECT_EQ(kZfp.describe(1024), "rate=16");
  EXPECT_EQ(kZfp.describe(144), "rate=2.25");
  EXPECT_EQ(kZfp.describe(1), "rate=0.015625");
  EXPECT_EQ(kZfp.describe(4095), "rate=63.984375");
}

TEST(ZfpSpec, OthersAreRefusedWithAReason) {
  for (const char* spec :
       {"zfp", "zfp:rate=0.007", "zfp:rate=0", "zfp:rate=-8", "zfp:rate=64.1", "zfp:rate=1e30",
        "zfp:rate=nan", "zfp:rate=inf", "zfp:rate=8bits", "zfp:accuracy=8", "zfp:rate=8,abs=1"}) {
    const auto parsed = parse_spec(spec);
    ASSERT_FALSE(parsed.ok()) << spec;
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument) << spec;
    EXPECT_NE(parsed.status().message().find("zfp: "), std::string::npos) << spec;
  }
}

TEST(ZfpSpec, ParametersOfFramesAreChecked) {
  for (const std::uint64_t parameter :
       {std::uint64_t{0}, std::uint64_t{4097}, std::uint64_t{1} << 32 | 64, ~std::uint64_t{0}}) {
    EXPECT_EQ(kZfp.check(parameter, Dtype::kF64, 1).code(), StatusCode::kDamaged) << parameter;
  }
  for (int rank = 1; rank <= 3; ++rank) {
    EXPECT_TRUE(kZfp.check(1, Dtype::kF32, rank).ok());
    EXPECT_TRUE(kZfp.check(rate_word(32), Dtype::kF32, rank).ok());
    EXPECT_EQ(kZfp.check(rate_word(32.25), Dtype::kF32, rank).code(), StatusCode::kDamaged);
  }
  EXPECT_EQ(kZfp.check(64, Dtype::kBf16, 1).code(), StatusCode::kUnsupported);
  EXPECT_EQ(kZfp.check(64, Dtype::kF32, 4).code(), StatusCode::kUnsupported);
}

TEST(ZfpSizes, BitsOfABlock) {
  EXPECT_EQ(zfp::block_bits(rate_word(8), Dtype::kF32, 1), 32);
  EXPECT_EQ(zfp::block_bits(rate_word(8), Dtype::kF32, 2), 128);
  EXPECT_EQ(zfp::block_bits(rate_word(8), Dtype::kF32, 3), 512);
  EXPECT_EQ(zfp::block_bits(rate_word(2), Dtype::kF32, 1), 9);
  EXPECT_EQ(zfp::block_bits(rate_word(2), Dtype::kF64, 1), 12);
  EXPECT_EQ(zfp::block_bits(1, Dtype::kF64, 3), 12);
  EXPECT_EQ(zfp::block_bits(723, Dtype::kF32, 1), 45);
  EXPECT_EQ(zfp::block_bits(rate_word(64), Dtype::kF64, 3), 4096);
}

TYPED_TEST(Zfp, ChunksAreTheFewestWholeLayersOfWholeWords) {
  constexpr Dtype kDtype = kDtypeOf<TypeParam>;
  EXPECT_EQ(kZfp.chunk_shape(Shape::line(99), kDtype, 145).extent[0], 16384u);
  for (const std::uint64_t x : {1, 3, 4, 5, 100, 1000, 16384, 16385, 70001}) {
    for (const auto& shape : {make_shape({1000, x}), make_shape({1000, 7, x})}) {
      for (const std::uint64_t rate : {1, 36, 145, 201, 512, 723, 1024, 2047}) {
        const auto planes = kZfp.chunk_shape(shape, kDtype, rate).extent[0];
        const auto qualifies = [&](std::uint64_t extent) {
          Shape chunk = shape;
          chunk.extent[0] = extent;
          const auto bits = static_cast<std::uint64_t>(zfp::block_bits(rate, kDtype, shape.rank));
          return chunk.count() * dtype_size(kDtype) >= 65536 &&
                 zfp::make_grid(chunk).blocks() * bits % 64 == 0;
        };
        ASSERT_EQ(planes % 4, 0u);
        EXPECT_TRUE(qualifies(planes)) << x << " " << rate;
        for (std::uint64_t fewer = 4; fewer < planes; fewer += 4) ASSERT_FALSE(qualifies(fewer));
      }
    }
  }
}

TEST(ZfpSizes, FollowFromShapeAndRate) {
  const auto bytes = [](const Shape& shape, std::uint64_t rate) {
    return kZfp.bound({Dtype::kF32, shape}, rate);
  };
  EXPECT_EQ(bytes(Shape::line(0), rate_word(16)), 0u);
  EXPECT_EQ(bytes(Shape::line(1), 144), 8u);
  EXPECT_EQ(bytes(Shape::line(28), 144), 8u);   // 63 bits
  EXPECT_EQ(bytes(Shape::line(29), 144), 16u);  // 72 bits
  EXPECT_EQ(bytes(make_shape({5, 9}), rate_word(8)), 6 * 16u);
  EXPECT_EQ(bytes(make_shape({5, 1, 9}), rate_word(8)), 6 * 64u);
  // A size that no memory holds must not wrap around to something small.
  EXPECT_GT(bytes(make_shape({1, 1, 1ull << 60}), rate_word(32)), 1ull << 50);
}

TYPED_TEST(Zfp, NonFiniteValuesAreDeclined) {
  const auto infinity = std::numeric_limits<TypeParam>::infinity();
  const auto quiet = std::numeric_limits<TypeParam>::quiet_NaN();
  const auto signalling = std::numeric_limits<TypeParam>::signaling_NaN();
  for (const TypeParam bad : {quiet, signalling, -quiet, infinity, -infinity}) {
    for (const Shape& shape : some_shapes()) {
      const std::size_t count = shape.count();
      for (const std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
        auto values = make_array<TypeParam>(Kind::kSmooth, count);
        values[at] = bad;
        EXPECT_EQ(encode_array(values, shape, 1024).status().code(), StatusCode::kDeclined)
            << bad << " at " << at << " of " << count;
      }
    }
  }
}

TYPED_TEST(Zfp, TinyBlocksBecomeZeros) {
  const TypeParam limit = kSmallestCoded<TypeParam>;
  const std::vector<TypeParam> values = {
      std::nextafter(limit, TypeParam{0}), -limit / 2, 0, TypeParam{-0.0}, limit, 0, 0, 0};
  const Shape shape = Shape::line(8);
  const auto decoded = decode_array<TypeParam>(*encode_array(values, shape, 2048), shape, 2048);
  ASSERT_TRUE(decoded.ok());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bits_of(*decoded)[i], 0u) << i;
  EXPECT_NEAR((*decoded)[4] / limit, 1.0, 1e-6);
}

TYPED_TEST(Zfp, EncodingTwiceGivesTheSameBytes) {
  for (const Kind kind : kAllKinds) {
    for (const Shape& shape : some_shapes()) {
      const auto values = make_array<TypeParam>(kind, shape.count());
      for (const std::uint64_t rate : {201, 512, 1024, 2033}) {
        EXPECT_EQ(*encode_array(values, shape, rate), *encode_array(values, shape, rate));
      }
    }
  }
}

TYPED_TEST(Zfp, ComesCloseOnSmoothData) {
  for (const Shape& shape :
       {Shape::line(10007), make_shape({101, 100}), make_shape({23, 22, 20})}) {
    const auto values = make_array<TypeParam>(Kind::kSmooth, shape.count());
    double last = 1e9;
    for (const int rate : {6, 8, 12, 16, 24, 32}) {
      const auto word = rate_word(rate);
      const auto decoded = decode_array<TypeParam>(*encode_array(values, shape, word), shape, word);
      double worst = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        worst = std::max<double>(worst, std::abs(values[i] - (*decoded)[i]));
      }
      EXPECT_LT(worst, std::max(last / 2, 1e-7)) << rate;  // what fp32 holds ends there
      last = worst;
    }
    EXPECT_LT(last, 1e-6);
  }
}

}  // namespace
}  // namespace thinwire::codec::testing
