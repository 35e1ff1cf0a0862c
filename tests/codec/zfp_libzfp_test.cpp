// libzfp as the oracle: the same bytes, and the same values from any bytes.
#include <gtest/gtest.h>

#ifndef THINWIRE_HAVE_LIBZFP

TEST(ZfpLibzfp, Oracle) { GTEST_SKIP() << "libzfp was not found when this was configured"; }

#else

#include <zfp.h>

#include "codec/zfp/sizes.h"
#include "codec/zfp_arrays.h"

namespace thinwire::codec::testing {
namespace {

// libzfp set up on a buffer and an array, both of the caller's.
template <typename Scalar>
class Libzfp {
 public:
  Libzfp(std::vector<std::byte>& buffer, std::vector<Scalar>& values, const Shape& shape,
         std::uint64_t parameter)
      : bits_(stream_open(buffer.data(), buffer.size())),
        stream_(zfp_stream_open(bits_)),
        field_(make_field(values.data(), shape)) {
    zfp_stream_set_rate(stream_, static_cast<double>(parameter) / 64, kType,
                        static_cast<uint>(shape.rank), 0);
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
  static constexpr zfp_type kType = sizeof(Scalar) == 8 ? zfp_type_double : zfp_type_float;

  static zfp_field* make_field(Scalar* values, const Shape& shape) {
    const auto& e = shape.extent;
    if (shape.rank == 1) return zfp_field_1d(values, kType, e[0]);
    if (shape.rank == 2) return zfp_field_2d(values, kType, e[1], e[0]);
    return zfp_field_3d(values, kType, e[2], e[1], e[0]);
  }

  bitstream* bits_;
  zfp_stream* stream_;
  zfp_field* field_;
};

// With the zeros after it that a libzfp of 64-bit stream words, its default, writes itself; some
// packages are built with words of 8 bits.
template <typename Scalar>
std::vector<std::byte> libzfp_encode(std::vector<Scalar> values, const Shape& shape,
                                     std::uint64_t parameter) {
  std::vector<std::byte> buffer(stream_bytes<Scalar>(shape, parameter) + 1024);
  const std::size_t size = Libzfp<Scalar>(buffer, values, shape, parameter).encode();
  EXPECT_NE(size, 0u);
  buffer.resize(size);
  buffer.resize((size + 7) / 8 * 8, std::byte{0});
  return buffer;
}

template <typename Scalar>
std::vector<Scalar> libzfp_decode(std::vector<std::byte> stream, const Shape& shape,
                                  std::uint64_t parameter) {
  std::vector<Scalar> values(shape.count());
  EXPECT_NE(Libzfp<Scalar>(stream, values, shape, parameter).decode(), 0u);
  return values;
}

template <typename Scalar>
void expect_agreement(const std::vector<Scalar>& values, const Shape& shape,
                      std::uint64_t parameter) {
  const auto ours = encode_array(values, shape, parameter);
  ASSERT_TRUE(ours.ok()) << ours.status().message();
  const auto theirs = libzfp_encode(values, shape, parameter);
  ASSERT_EQ(*ours, theirs);
  const auto decoded = decode_array<Scalar>(*ours, shape, parameter);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  ASSERT_EQ(bits_of(*decoded), bits_of(libzfp_decode<Scalar>(theirs, shape, parameter)));
}

// Whole and odd rates, below the least bits of a block and at the most.
template <typename Scalar>
std::vector<std::uint64_t> some_rates() {
  std::vector<std::uint64_t> rates = {1,   33,  64,  144,  145,  201,  256,
                                      352, 512, 723, 1024, 1040, 1584, 2048};
  if (sizeof(Scalar) == 8) rates.insert(rates.end(), {2049, 2592, 3072, 3583, 4095, 4096});
  return rates;
}

template <typename Scalar>
void expect_agreement_at(const std::vector<Shape>& shapes,
                         const std::vector<std::uint64_t>& rates) {
  for (const Kind kind : kAllKinds) {
    for (const Shape& shape : shapes) {
      const auto values =
          make_array<Scalar>(kind, shape.count(), static_cast<std::uint32_t>(shape.count()));
      for (const auto rate : rates) {
        SCOPED_TRACE(::testing::Message()
                     << kKindNames[static_cast<int>(kind)] << ", rank " << shape.rank << ", "
                     << shape.extent[0] << " " << shape.extent[1] << " " << shape.extent[2] << ", "
                     << rate << "/64 bits");
        expect_agreement(values, shape, rate);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

template <typename Scalar>
class ZfpAgainstLibzfp : public ::testing::Test {};
TYPED_TEST_SUITE(ZfpAgainstLibzfp, ZfpScalars, DtypeNames);

TYPED_TEST(ZfpAgainstLibzfp, ShortLines) {
  std::vector<Shape> shapes;
  for (std::uint64_t count = 1; count <= 40; ++count) shapes.push_back(Shape::line(count));
  expect_agreement_at<TypeParam>(shapes, some_rates<TypeParam>());
}

TYPED_TEST(ZfpAgainstLibzfp, SmallPlanes) {
  std::vector<Shape> shapes;
  for (std::uint64_t y = 1; y <= 9; ++y) {
    for (std::uint64_t x = 1; x <= 9; ++x) shapes.push_back(make_shape({y, x}));
  }
  expect_agreement_at<TypeParam>(shapes, some_rates<TypeParam>());
}

TYPED_TEST(ZfpAgainstLibzfp, SmallVolumes) {
  std::vector<Shape> shapes = {make_shape({9, 6, 11}), make_shape({7, 8, 13})};
  for (std::uint64_t i = 0; i < 125; ++i) {
    shapes.push_back(make_shape({i / 25 + 1, i / 5 % 5 + 1, i % 5 + 1}));
  }
  expect_agreement_at<TypeParam>(shapes, some_rates<TypeParam>());
}

TYPED_TEST(ZfpAgainstLibzfp, EveryRate) {
  std::vector<std::uint64_t> rates;
  for (std::uint64_t rate = 1; rate <= 64 * 8 * sizeof(TypeParam); ++rate) rates.push_back(rate);
  const std::vector<Shape> shapes = {Shape::line(99), make_shape({6, 11}), make_shape({5, 4, 3})};
  expect_agreement_at<TypeParam>(shapes, rates);
}

// Arrays of several chunks, whole and not.
TYPED_TEST(ZfpAgainstLibzfp, ChunkBoundaries) {
  const std::vector<std::uint64_t> rates = {36, 145, 201, 512, 723, 1024, 2048};
  std::vector<Shape> shapes;
  for (const std::uint64_t count : {16381, 16384, 16385, 32768, 50021}) {
    shapes.push_back(Shape::line(count));
  }
  for (const auto& shape :
       {make_shape({701, 100}), make_shape({513, 37}), make_shape({9, 20001}),
        make_shape({51, 33, 21}), make_shape({300, 10, 9}), make_shape({13, 129, 130})}) {
    shapes.push_back(shape);
    std::uint64_t chunks_at_most = 0;
    for (const auto rate : rates) {
      const auto layout = make_layout(kZfp, rate, {kDtypeOf<TypeParam>, shape});
      chunks_at_most = std::max(chunks_at_most, layout.chunks);
    }
    EXPECT_GT(chunks_at_most, 1u) << shape.extent[0];
  }
  expect_agreement_at<TypeParam>(shapes, rates);
}

TYPED_TEST(ZfpAgainstLibzfp, SmallestExponentThatIsCoded) {
  const TypeParam s = kSmallestCoded<TypeParam>;
  const std::vector<TypeParam> values = {s, -s, s / 2, 0, 3 * s / 2, 0, 0, -s / 7};
  for (const auto& shape : {Shape::line(8), make_shape({2, 4}), make_shape({2, 2, 2})}) {
    for (const auto rate : some_rates<TypeParam>()) expect_agreement(values, shape, rate);
  }
}

TYPED_TEST(ZfpAgainstLibzfp, TinyBlocksAreZeroForLibzfpToo) {
  const TypeParam tiny = std::nextafter(kSmallestCoded<TypeParam>, TypeParam{0});
  const TypeParam subnormal = std::numeric_limits<TypeParam>::denorm_min();
  const std::vector<TypeParam> values = {tiny, -tiny,     tiny / 2, 0, 1,          2,   3,
                                         4,    subnormal, 0,        0, -subnormal, tiny};
  for (const auto rate : some_rates<TypeParam>()) {
    const Shape shape = Shape::line(values.size());
    const auto stream = encode_array(values, shape, rate);
    ASSERT_TRUE(stream.ok());
    const auto theirs = libzfp_decode<TypeParam>(*stream, shape, rate);
    const auto ours = decode_array<TypeParam>(*stream, shape, rate);
    ASSERT_TRUE(ours.ok());
    EXPECT_EQ(bits_of(*ours), bits_of(theirs));
    for (const std::size_t i : {0, 1, 2, 3, 8, 9, 10, 11, 12}) EXPECT_EQ(bits_of(theirs)[i], 0u);
  }
}

void set_bits(std::vector<std::byte>& stream, std::uint64_t at, int count, std::uint64_t value) {
  for (std::uint64_t bit = at; bit < at + static_cast<std::uint64_t>(count); ++bit, value >>= 1) {
    const auto mask = static_cast<std::byte>(1u << bit % 8);
    stream[bit / 8] = (stream[bit / 8] & ~mask) | (value & 1 ? mask : std::byte{0});
  }
}

// Bits that no encoder wrote. Density changes how long stretches of zeros get; no block is empty,
// and every fourth has one of the lowest exponents, below those that are coded.
template <typename Scalar>
std::vector<std::byte> random_stream(const Shape& shape, std::uint64_t rate, int density,
                                     std::mt19937& random) {
  std::vector<std::byte> stream(stream_bytes<Scalar>(shape, rate));
  for (auto& byte : stream) {
    auto bits = static_cast<std::uint32_t>(random());
    for (int i = 1; i < density; ++i) bits &= static_cast<std::uint32_t>(random());
    byte = static_cast<std::byte>(bits);
  }
  const auto block_bits =
      static_cast<std::uint64_t>(zfp::block_bits(rate, kDtypeOf<Scalar>, shape.rank));
  for (std::uint64_t block = 0; block < zfp::make_grid(shape).blocks(); ++block) {
    set_bits(stream, block * block_bits, 1, 1);
    if (block % 4 == 0) {
      set_bits(stream, block * block_bits + 1, zfp::kHeaderBits<Scalar> - 1, random() % 16);
    }
  }
  return stream;
}

TYPED_TEST(ZfpAgainstLibzfp, AnyBitsDecodeAlike) {
  std::mt19937 random(7);
  for (const auto& shape : {Shape::line(803), make_shape({21, 23}), make_shape({9, 10, 11})}) {
    for (std::uint64_t rate = 1; rate <= 64 * 8 * sizeof(TypeParam); rate += 13) {
      for (int density = 1; density <= 6; ++density) {
        const auto stream = random_stream<TypeParam>(shape, rate, density, random);
        const auto ours = decode_array<TypeParam>(stream, shape, rate);
        ASSERT_TRUE(ours.ok()) << ours.status().message();
        ASSERT_EQ(bits_of(*ours), bits_of(libzfp_decode<TypeParam>(stream, shape, rate)))
            << "rank " << shape.rank << ", " << rate << "/64 bits, density " << density;
      }
    }
  }
}

}  // namespace
}  // namespace thinwire::codec::testing

#endif
