// The parts of the codec beside each other: two coders of fp32 lines, the arithmetic of blocks.
#include <gtest/gtest.h>

#include "codec/zfp/block.h"
#include "codec/zfp/block_bits.h"
#include "codec/zfp/blocks.h"
#include "codec/zfp/gather.h"
#include "codec/zfp/line.h"
#include "codec/zfp/line_block.h"
#include "codec/zfp/line_short.h"
#include "codec/zfp/sizes.h"
#include "codec/zfp_arrays.h"

namespace thinwire::codec::testing {
namespace {

// The coder of fp32 lines has its own plane coder, by tables and stretches.
TEST(ZfpBlock, LinesAreCodedAlikeByBothCoders) {
  constexpr std::uint64_t kCount = 1003;
  const Shape shape = Shape::line(kCount);
  for (const Kind kind : kAllKinds) {
    const auto values = make_array<float>(kind, kCount);
    const auto* source = reinterpret_cast<const std::byte*>(values.data());
    for (int bits = 9; bits <= 128; ++bits) {
      const auto size = zfp::encoded_bytes(zfp::make_grid(shape).blocks(), bits);
      std::vector<std::byte> line(size), blocks(size);
      ASSERT_TRUE(zfp::encode_line(source, kCount, bits, line.data()));
      ASSERT_TRUE(zfp::encode_blocks(source, Dtype::kF32, shape, bits, blocks.data()));
      ASSERT_EQ(line, blocks) << bits;
      std::vector<std::byte> by_line(4 * kCount), by_blocks(4 * kCount);
      zfp::decode_line(line.data(), kCount, bits, by_line.data());
      zfp::decode_blocks(line.data(), Dtype::kF32, shape, bits, by_blocks.data());
      ASSERT_EQ(by_line, by_blocks) << bits;
    }
  }
}

constexpr zfp::Tables kTables = zfp::make_tables();

void expect_short_block(const zfp::Block& u, std::uint32_t header, int bits) {
  const auto expected = zfp::line_bits(kTables, u, zfp::to_planes(u), header, bits);
  ASSERT_EQ(zfp::short_bits(kTables, u, header, bits), expected.first) << bits;
}

void expect_short_stream(std::uint32_t stream, int bits) {
  const auto block = zfp::from_planes(zfp::line_planes(kTables, {stream, 0}, bits));
  const auto u = zfp::short_coefficients(kTables, stream, bits);
  ASSERT_TRUE(u.x == block.x && u.y == block.y && u.z == block.z && u.w == block.w)
      << std::hex << stream << " of " << std::dec << bits;
}

// The third coder, for short blocks of lines, beside the second: coefficients of every length, and
// any bits.
TEST(ZfpBlock, ShortBlocksOfLinesAreCodedAlike) {
  std::mt19937 random(11);
  const auto draw = [&] { return static_cast<std::uint32_t>(random()); };
  const auto coefficient = [&](std::uint32_t density) {
    const std::uint32_t value = density % 2 == 0 ? draw() : draw() & draw() & draw();
    const std::uint32_t zeros = draw() % 33;
    return zeros == 32 ? 0 : value >> zeros;
  };
  for (int i = 0; i < 400000; ++i) {
    const std::uint32_t density = draw();
    const zfp::Block u = {coefficient(density), coefficient(density >> 1),
                          coefficient(density >> 2), coefficient(density >> 3)};
    expect_short_block(u, draw() % 512, 9 + i % 24);
    const int bits = 9 + i % 24;
    std::uint32_t stream = draw();
    for (std::uint32_t thin = density >> 4 & 7; thin > 0; --thin) stream &= draw() | 0x1ff;
    expect_short_stream(stream & static_cast<std::uint32_t>(zfp::low_bits_mask(bits)), bits);
    if (HasFatalFailure()) return;
  }
}

template <int kRows>
void expect_transposed() {
  std::mt19937 random(kRows);
  std::uint32_t rows[kRows], original[kRows];
  for (int i = 0; i < kRows; ++i) original[i] = rows[i] = static_cast<std::uint32_t>(random());
  transpose_bits(rows);
  for (int i = 0; i < kRows; ++i) {
    for (int bit = 0; bit < 32; ++bit) {
      const int group = bit / kRows * kRows;
      EXPECT_EQ(rows[i] >> bit & 1, original[bit % kRows] >> (group + i) & 1);
    }
  }
  transpose_bits(rows);
  for (int i = 0; i < kRows; ++i) EXPECT_EQ(rows[i], original[i]);
}

TEST(ZfpBlock, BitMatricesAreTransposed) {
  expect_transposed<4>();
  expect_transposed<16>();
  expect_transposed<32>();
}

template <int kRank, typename Word>
void expect_planes() {
  constexpr int kValues = zfp::kBlockValues<kRank>;
  constexpr int kPlanes = sizeof(Word) * 8;
  using Layout = zfp::PlaneLayout<kValues, kPlanes>;
  std::mt19937_64 random(kRank);
  Word block[kValues];
  for (auto& word : block) word = static_cast<Word>(random());
  zfp::LocalWords<Layout::kWords> planes, again{};
  zfp::to_planes<kRank>(block, planes);
  for (int k = 0; k < kPlanes; ++k) {
    const std::uint64_t plane = zfp::load_plane<Layout>(planes, k);
    for (int i = 0; i < kValues; ++i) {
      EXPECT_EQ(plane >> i & 1, std::uint64_t{block[zfp::kSequency<kRank>[i]]} >> k & 1);
    }
    zfp::add_plane<Layout>(again, k, zfp::load_plane<Layout>(planes, k));
  }
  Word restored[kValues];
  zfp::from_planes<kRank>(again, restored);
  EXPECT_TRUE(std::equal(block, block + kValues, restored));
}

TEST(ZfpBlock, PlanesHoldTheCoefficientsInSequency) {
  expect_planes<1, std::uint32_t>();
  expect_planes<2, std::uint32_t>();
  expect_planes<3, std::uint32_t>();
  expect_planes<1, std::uint64_t>();
  expect_planes<2, std::uint64_t>();
  expect_planes<3, std::uint64_t>();
}

TEST(ZfpBlock, SequencyNamesEveryPlaceOnce) {
  std::vector<int> seen(64);
  for (const int place : zfp::kSequency<3>) ++seen[static_cast<std::size_t>(place)];
  for (const int place : zfp::kSequency<2>) ++seen[static_cast<std::size_t>(place)];
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(seen[i], i < 16 ? 2 : 1);
}

TEST(ZfpBlock, MissingValuesAreFilledIn) {
  const int expected[4][4] = {{0, 0, 0, 0}, {0, 1, 1, 0}, {0, 1, 2, 0}, {0, 1, 2, 3}};
  for (int present = 1; present <= 4; ++present) {
    for (int i = 0; i < 4; ++i) EXPECT_EQ(zfp::pad_index(i, present), expected[present - 1][i]);
  }
}

template <typename Scalar>
void expect_scales() {
  const int lowest = zfp::kSmallestExponent<Scalar>;
  const int bias = zfp::kExponentBias<Scalar>;
  for (int exponent = lowest; exponent <= 2 * bias; ++exponent) {
    const Scalar value = std::ldexp(Scalar{1.5}, exponent - bias);
    const auto largest = zfp::magnitude_bits(-value);
    const Scalar scale = zfp::forward_scale<Scalar>(largest);
    EXPECT_EQ(scale * value, std::ldexp(Scalar{0.75}, sizeof(Scalar) * 8 - 2));
    const auto header = static_cast<std::uint32_t>(zfp::block_header<Scalar>(largest));
    EXPECT_EQ(header, static_cast<std::uint32_t>(2 * (exponent + 1) + 1));
    EXPECT_EQ((zfp::lowest_plane<Scalar, 1>(header)), 0);
  }
  for (int e = 0; e <= 2 * bias + 1; ++e) {
    EXPECT_EQ(zfp::inverse_scale<Scalar>(static_cast<std::uint32_t>(2 * e + 1)),
              std::ldexp(Scalar{1}, e - bias - static_cast<int>(sizeof(Scalar)) * 8 + 2));
  }
}

TEST(ZfpBlock, ScalesArePowersOfTwo) {
  expect_scales<float>();
  expect_scales<double>();
}

}  // namespace
}  // namespace thinwire::codec::testing
