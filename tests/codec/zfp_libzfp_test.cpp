// libzfp as the oracle: the same bytes, and the same values from any bytes.
#include <gtest/gtest.h>

#ifndef THINWIRE_HAVE_LIBZFP

TEST(ZfpLibzfp, Oracle) { GTEST_SKIP() << "libzfp was not found when this was configured"; }

#else

#include <zfp.h>

#include "codec/zfp_arrays.h"

namespace thinwire::codec::testing {
namespace {

// libzfp set up on a buffer and an array, both of the caller's.
class Libzfp {
 public:
  Libzfp(std::vector<std::byte>& buffer, std::vector<float>& values, std::uint64_t block_bits)
      : bits_(stream_open(buffer.data(), buffer.size())),
        stream_(zfp_stream_open(bits_)),
        field_(zfp_field_1d(values.data(), zfp_type_float, values.size())) {
    zfp_stream_set_rate(stream_, static_cast<double>(block_bits) / 4, zfp_type_float, 1, 0);
  }
  ~Libzfp() {
    zfp_field_free(field_);
    zfp_stream_close(stream_);
    stream_close(bits_);
  }
  Libzfp(const Libzfp&) = delete;
  Libzfp& operator=(const Libzfp&) = delete;

  std::size_t encode() { return zfp_compress(stream_, field_); }
  std::size_t decode() { return zfp_decompress(stream_, field_); }

 private:
  bitstream* bits_;
  zfp_stream* stream_;
  zfp_field* field_;
};

// With the zeros behind it that a libzfp of 64-bit stream words, its default, writes itself; some
// packages are built with words of 8 bits.
std::vector<std::byte> libzfp_encode(std::vector<float> values, std::uint64_t block_bits) {
  std::vector<std::byte> buffer((values.size() / 4 + 1) * block_bits / 8 + 64);
  const std::size_t size = Libzfp(buffer, values, block_bits).encode();
  EXPECT_NE(size, 0u);
  buffer.resize(size);
  buffer.resize((size + 7) / 8 * 8, std::byte{0});
  return buffer;
}

std::vector<float> libzfp_decode(std::vector<std::byte> stream, std::size_t count,
                                 std::uint64_t block_bits) {
  std::vector<float> values(count);
  EXPECT_NE(Libzfp(stream, values, block_bits).decode(), 0u);
  return values;
}

void expect_agreement(const std::vector<float>& values, std::uint64_t block_bits) {
  const auto ours = encode_array(values, block_bits);
  ASSERT_TRUE(ours.ok()) << ours.status().message();
  const auto theirs = libzfp_encode(values, block_bits);
  ASSERT_EQ(*ours, theirs);
  const auto decoded = decode_array(*ours, values.size(), block_bits);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  ASSERT_EQ(bits_of(*decoded), bits_of(libzfp_decode(theirs, values.size(), block_bits)));
}

// Rates 2.25 to 32: whole and odd ones, both sides of one and of two words a block.
constexpr std::uint64_t kBlockBits[] = {9,  10, 12, 14, 16, 23, 32, 33,  45,  48,  63,
                                        64, 65, 66, 72, 73, 80, 96, 111, 124, 127, 128};

class ZfpAgainstLibzfp : public ::testing::TestWithParam<Kind> {};

TEST_P(ZfpAgainstLibzfp, ShortArrays) {
  for (std::size_t count = 1; count <= 40; ++count) {
    const auto values = make_array(GetParam(), count, static_cast<std::uint32_t>(count));
    for (const auto block_bits : kBlockBits) {
      SCOPED_TRACE(::testing::Message() << count << " values, " << block_bits << " bits");
      expect_agreement(values, block_bits);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(ZfpAgainstLibzfp, EveryRate) {
  const auto values = make_array(GetParam(), 4099);
  for (std::uint64_t block_bits = 9; block_bits <= 128; ++block_bits) {
    SCOPED_TRACE(::testing::Message() << block_bits << " bits");
    expect_agreement(values, block_bits);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ZfpAgainstLibzfp, ChunkBoundaries) {
  for (const std::size_t count : {16381, 16383, 16384, 16385, 16388, 32767, 32768, 32771, 50021}) {
    const auto values = make_array(GetParam(), count);
    for (const std::uint64_t block_bits : {9, 14, 32, 45, 64, 111, 128}) {
      SCOPED_TRACE(::testing::Message() << count << " values, " << block_bits << " bits");
      expect_agreement(values, block_bits);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ZfpAgainstLibzfp, ::testing::ValuesIn(kAllKinds),
                         [](const auto& info) {
                           return kKindNames[static_cast<std::size_t>(info.param)];
                         });

TEST(ZfpLibzfp, SmallestExponentThatIsCoded) {
  const float smallest = std::ldexp(1.0f, -98);
  expect_agreement({smallest, -smallest, smallest / 2, 0, 1.5f * smallest, 0, 0, -smallest / 7},
                   64);
}

TEST(ZfpLibzfp, TinyBlocksAreZeroForLibzfpToo) {
  const float tiny = std::nextafter(std::ldexp(1.0f, -98), 0.0f);
  const float subnormal = std::numeric_limits<float>::denorm_min();
  const std::vector<float> values = {tiny, -tiny,     tiny / 2, 0, 1,          2,   3,
                                     4,    subnormal, 0,        0, -subnormal, tiny};
  for (const auto block_bits : kBlockBits) {
    const auto stream = encode_array(values, block_bits);
    ASSERT_TRUE(stream.ok());
    const auto theirs = libzfp_decode(*stream, values.size(), block_bits);
    const auto ours = decode_array(*stream, values.size(), block_bits);
    ASSERT_TRUE(ours.ok());
    EXPECT_EQ(bits_of(*ours), bits_of(theirs));
    for (const std::size_t i : {0, 1, 2, 3, 8, 9, 10, 11, 12}) EXPECT_EQ(bits_of(theirs)[i], 0u);
  }
}

// Bits that no encoder wrote. Density changes how long stretches of zeros get.
std::vector<std::byte> random_stream(std::size_t size, int density, std::mt19937& random) {
  std::vector<std::byte> stream(size);
  for (auto& byte : stream) {
    auto bits = static_cast<std::uint32_t>(random());
    for (int i = 1; i < density; ++i) bits &= static_cast<std::uint32_t>(random());
    byte = static_cast<std::byte>(bits);
  }
  return stream;
}

TEST(ZfpLibzfp, AnyBitsDecodeAlike) {
  std::mt19937 random(7);
  for (std::uint64_t block_bits = 9; block_bits <= 128; ++block_bits) {
    for (int density = 1; density <= 6; ++density) {
      const std::size_t count = 4003 + static_cast<std::size_t>(density);
      auto stream = random_stream(kZfp.bound(line_chunk(count), block_bits), density, random);
      // Thin streams would hold few blocks that are not empty.
      for (std::size_t bit = 0; bit < count / 4 * block_bits; bit += block_bits) {
        stream[bit / 8] |= static_cast<std::byte>(1u << bit % 8);
      }
      const auto ours = decode_array(stream, count, block_bits);
      ASSERT_TRUE(ours.ok()) << ours.status().message();
      ASSERT_EQ(bits_of(*ours), bits_of(libzfp_decode(stream, count, block_bits)))
          << block_bits << " bits, density " << density;
    }
  }
}

}  // namespace
}  // namespace thinwire::codec::testing

#endif
