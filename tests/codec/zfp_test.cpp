// The codec's row by itself: parameters, refusals, memory safety, determinism.
#include <gtest/gtest.h>

#include "codec/registry.h"
#include "codec/spec.h"
#include "codec/zfp_arrays.h"

namespace thinwire::codec::testing {
namespace {

std::uint64_t parameter_of(const std::string& spec) {
  const auto parsed = parse_spec(spec);
  EXPECT_TRUE(parsed.ok()) << spec << ": " << parsed.status().message();
  return parsed.ok() ? parsed->parameter : 0;
}

TEST(ZfpSpec, RatesBecomeBitsOfABlock) {
  EXPECT_EQ(parameter_of("zfp:rate=16"), 64u);
  EXPECT_EQ(parameter_of("zfp:rate=2.25"), 9u);
  EXPECT_EQ(parameter_of("zfp:rate=2.125"), 9u);
  EXPECT_EQ(parameter_of("zfp:rate=32"), 128u);
  EXPECT_EQ(parameter_of("zfp:rate=11.3"), 45u);
  EXPECT_EQ(parameter_of("zfp:rate=8e0"), 32u);
  EXPECT_EQ(find_codec(CodecId{1}), &kZfp);
}

TEST(ZfpSpec, NormalFormMeansTheSame) {
  for (std::uint64_t block_bits = 9; block_bits <= 128; ++block_bits) {
    const std::string options = kZfp.describe(block_bits);
    EXPECT_EQ(parameter_of("zfp:" + options), block_bits) << options;
    EXPECT_TRUE(kZfp.check(block_bits, Dtype::kF32, 1).ok());
  }
  EXPECT_EQ(kZfp.describe(64), "rate=16");
  EXPECT_EQ(kZfp.describe(9), "rate=2.25");
  EXPECT_EQ(kZfp.describe(126), "rate=31.5");
}

TEST(ZfpSpec, OthersAreRefusedWithAReason) {
  for (const char* spec :
       {"zfp", "zfp:rate=2", "zfp:rate=0", "zfp:rate=-8", "zfp:rate=32.2", "zfp:rate=1e30",
        "zfp:rate=nan", "zfp:rate=inf", "zfp:rate=8bits", "zfp:accuracy=8", "zfp:rate=8,abs=1"}) {
    const auto parsed = parse_spec(spec);
    ASSERT_FALSE(parsed.ok()) << spec;
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument) << spec;
    EXPECT_NE(parsed.status().message().find("zfp: "), std::string::npos) << spec;
  }
}

TEST(ZfpSpec, ParametersOfFramesAreChecked) {
  for (const std::uint64_t parameter : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{129},
                                        std::uint64_t{1} << 32 | 64, ~std::uint64_t{0}}) {
    EXPECT_EQ(kZfp.check(parameter, Dtype::kF32, 1).code(), StatusCode::kDamaged) << parameter;
  }
  EXPECT_EQ(kZfp.check(64, Dtype::kF64, 1).code(), StatusCode::kUnsupported);
  EXPECT_EQ(kZfp.check(64, Dtype::kF32, 2).code(), StatusCode::kUnsupported);
}

TEST(ZfpSizes, FollowFromLengthAndRate) {
  EXPECT_EQ(kZfp.bound(line_chunk(0), 64), 0u);
  EXPECT_EQ(kZfp.bound(line_chunk(1), 9), 8u);
  EXPECT_EQ(kZfp.bound(line_chunk(28), 9), 8u);   // 63 bits
  EXPECT_EQ(kZfp.bound(line_chunk(29), 9), 16u);  // 72 bits
  for (std::uint64_t block_bits = 9; block_bits <= 128; ++block_bits) {
    EXPECT_EQ(kZfp.bound(line_chunk(16384), block_bits), 512 * block_bits);
  }
}

TEST(ZfpEncode, NonFiniteValuesAreDeclined) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity(), std::bit_cast<float>(0xff800001u)}) {
    for (const std::size_t count : {1, 3, 37, 64, 16387}) {
      for (const std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
        auto values = make_array(Kind::kSmooth, count);
        values[at] = bad;
        EXPECT_EQ(encode_array(values, 64).status().code(), StatusCode::kDeclined)
            << bad << " at " << at << " of " << count;
      }
    }
  }
}

TEST(ZfpEncode, TinyBlocksBecomeZeros) {
  const float limit = std::ldexp(1.0f, -98);
  const std::vector<float> values = {
      std::nextafter(limit, 0.0f), -limit / 2, 0, -0.0f, limit, 0, 0, 0};
  const auto decoded = decode_array(*encode_array(values, 128), values.size(), 128);
  ASSERT_TRUE(decoded.ok());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bits_of(*decoded)[i], 0u) << i;
  EXPECT_NEAR((*decoded)[4] / limit, 1.0, 1e-6);
}

TEST(ZfpEncode, GivesTheSameBytesTwice) {
  for (const Kind kind : kAllKinds) {
    const auto values = make_array(kind, 20011);
    for (const std::uint64_t block_bits : {14, 32, 64, 127}) {
      EXPECT_EQ(*encode_array(values, block_bits), *encode_array(values, block_bits));
    }
  }
}

TEST(ZfpDecode, ComesCloseOnSmoothData) {
  const auto values = make_array(Kind::kSmooth, 10007);
  double last = 1e9;
  for (const std::uint64_t block_bits : {24, 32, 48, 64, 96, 128}) {
    const auto decoded = decode_array(*encode_array(values, block_bits), values.size(), block_bits);
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      worst = std::max(worst, std::abs(double{values[i]} - double{(*decoded)[i]}));
    }
    EXPECT_LT(worst, last / 2) << block_bits;
    last = worst;
  }
  EXPECT_LT(last, 1e-6);
}

TEST(ZfpDecode, OtherLengthsAreDamage) {
  const std::vector<std::byte> bytes(4096);
  std::vector<float> out(100);
  for (const std::uint64_t block_bits : {9, 33, 64, 128}) {
    const Chunk chunk = line_chunk(out.size());
    const auto right = kZfp.bound(chunk, block_bits);
    for (std::uint64_t length = 0; length <= 2 * right; ++length) {
      const Status status = kZfp.decode(ByteView(bytes).first(length), chunk, block_bits,
                                        reinterpret_cast<std::byte*>(out.data()));
      EXPECT_EQ(status.code(), length == right ? StatusCode::kOk : StatusCode::kDamaged) << length;
    }
  }
}

// Encodes and decodes at odd addresses; neither may touch a byte outside its buffer.
TEST(ZfpMemory, UnalignedBuffersWithCanaries) {
  constexpr std::size_t kGuard = 64;
  constexpr std::byte kCanary{0xA5};
  for (const std::size_t count : {1, 2, 5, 31, 33, 67, 255}) {
    const auto values = make_array(Kind::kNormal, count);
    const Chunk chunk = line_chunk(count);
    for (const std::uint64_t block_bits : {9, 14, 32, 45, 64, 65, 111, 128}) {
      const auto size = kZfp.bound(chunk, block_bits);
      const std::size_t shift = 1 + (count + block_bits) % 7;
      std::vector<std::byte> source(shift + chunk.raw_bytes());
      std::memcpy(source.data() + shift, values.data(), chunk.raw_bytes());
      std::vector<std::byte> encoded(kGuard + shift + size + kGuard, kCanary);
      std::byte* payload = encoded.data() + kGuard + shift;
      ASSERT_EQ(*kZfp.encode(source.data() + shift, chunk, block_bits, payload), size);

      std::vector<std::byte> decoded(kGuard + shift + chunk.raw_bytes() + kGuard, kCanary);
      std::byte* out = decoded.data() + kGuard + shift;
      ASSERT_TRUE(kZfp.decode(ByteView(payload, size), chunk, block_bits, out).ok());

      const auto intact = [&](const std::vector<std::byte>& buffer) {
        const auto canary = [&](std::byte byte) { return byte == kCanary; };
        return std::all_of(buffer.begin(), buffer.begin() + kGuard + shift, canary) &&
               std::all_of(buffer.end() - kGuard, buffer.end(), canary);
      };
      EXPECT_TRUE(intact(encoded)) << count << " values, " << block_bits << " bits";
      EXPECT_TRUE(intact(decoded)) << count << " values, " << block_bits << " bits";

      const auto aligned = *encode_array(values, block_bits);
      EXPECT_TRUE(std::equal(aligned.begin(), aligned.end(), payload, payload + size));
      std::vector<float> result(count);
      std::memcpy(result.data(), out, chunk.raw_bytes());
      EXPECT_EQ(bits_of(result), bits_of(*decode_array(aligned, count, block_bits)));
    }
  }
}

TEST(ZfpDecode, PaddingIsIgnored) {
  const auto values = make_array(Kind::kNormal, 5);
  auto stream = *encode_array(values, 23);  // 46 bits used of 64
  const auto clean = *decode_array(stream, 5, 23);
  stream[7] = std::byte{0xff};
  EXPECT_EQ(bits_of(*decode_array(stream, 5, 23)), bits_of(clean));
}

}  // namespace
}  // namespace thinwire::codec::testing
