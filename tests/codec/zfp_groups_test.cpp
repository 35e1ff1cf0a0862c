// Blocks side by side in vectors (blocks.h) give the bytes and values of the coder of single blocks
// (block.h), at every rate, of any values and any bits.
#include <gtest/gtest.h>

#include "codec/zfp/block.h"
#include "codec/zfp/blocks.h"
#include "codec/zfp/sizes.h"
#include "codec/zfp/word_stream.h"
#include "codec/zfp_arrays.h"

namespace thinwire::codec::testing {
namespace {

constexpr zfp::ExpandTable kExpand = zfp::make_expand_table();
constexpr zfp::SearchTable kSearch = zfp::make_search_table();

// One block after the other.
template <typename Scalar, int kRank>
struct Single {
  explicit Single(const Shape& shape, int block_bits)
      : grid(zfp::make_grid(shape)),
        bits(block_bits),
        words(zfp::encoded_bytes(grid.blocks(), block_bits) / 4) {}

  zfp::BlockPlace place(std::uint64_t block) const {
    const auto x = grid.blocks_along(grid.x), y = grid.blocks_along(grid.y);
    return zfp::block_place(grid, block % x, block / x % y, block / x / y);
  }
  std::uint32_t first_bit(std::uint64_t block) const {
    return static_cast<std::uint32_t>(block) * static_cast<std::uint32_t>(bits);
  }

  std::vector<std::byte> encode(const std::vector<Scalar>& values) const {
    std::vector<std::uint32_t> out(words);
    for (std::uint64_t at = 0; at < grid.blocks(); ++at) {
      Scalar block[zfp::kBlockValues<kRank>];
      zfp::gather_block<Scalar, kRank>(reinterpret_cast<const std::byte*>(values.data()), grid,
                                       place(at), block);
      zfp::LocalWords<zfp::kPlaneWords<Scalar, kRank>> planes;
      zfp::BlockHead head;
      EXPECT_TRUE((zfp::make_planes<Scalar, kRank>(block, head, planes)));
      zfp::WordWriter<false> writer(out.data(), first_bit(at), bits);
      zfp::put_block<Scalar, kRank>(kExpand, head, planes, writer);
      writer.finish();
    }
    std::vector<std::byte> bytes(4 * words);
    std::memcpy(bytes.data(), out.data(), bytes.size());
    return bytes;
  }

  std::vector<Scalar> decode(const std::vector<std::byte>& stream, std::size_t count) const {
    std::vector<std::uint32_t> in(words);
    std::memcpy(in.data(), stream.data(), stream.size());
    std::vector<Scalar> values(count);
    for (std::uint64_t at = 0; at < grid.blocks(); ++at) {
      zfp::WordReader reader(in.data(), static_cast<std::uint32_t>(words), first_bit(at));
      zfp::LocalWords<zfp::kPlaneWords<Scalar, kRank>> planes;
      Scalar block[zfp::kBlockValues<kRank>];
      zfp::decode_block<Scalar, kRank>(kSearch, reader, bits, planes, block);
      zfp::scatter_block<Scalar, kRank>(block, grid, place(at),
                                        reinterpret_cast<std::byte*>(values.data()));
    }
    return values;
  }

  zfp::Grid grid;
  int bits;
  std::size_t words;
};

// From all finite values: every exponent, so that blocks are empty, nearly empty and not.
template <typename Scalar>
std::vector<Scalar> any_finite(std::size_t count, std::mt19937& random) {
  std::vector<Scalar> values(count);
  const int spread = static_cast<int>(random() % 64);
  const int base = static_cast<int>(random() % (2 * zfp::kExponentBias<Scalar>));
  for (auto& value : values) {
    const int exponent = std::min(base + (spread == 0 ? 0 : static_cast<int>(random()) % spread),
                                  2 * zfp::kExponentBias<Scalar>);
    const auto draw = std::uint64_t{random()} << 32 | random();
    using Bits = zfp::BitsOf<Scalar>;
    constexpr int kFraction = zfp::FloatFormat<Scalar>::kFractionBits;
    value = std::bit_cast<Scalar>(
        static_cast<Bits>(static_cast<Bits>(std::max(exponent, 0)) << kFraction |
                          (static_cast<Bits>(draw) & ((Bits{1} << kFraction) - 1))));
    if (draw >> 63 != 0) value = -value;
    if (random() % 8 == 0) value = random() % 2 == 0 ? Scalar{-0.0} : Scalar{0};
    if (random() % 16 == 0) value = std::numeric_limits<Scalar>::denorm_min();
  }
  return values;
}

template <typename Scalar, int kRank>
void expect_same(const Shape& shape, int block_bits, std::mt19937& random) {
  const Single<Scalar, kRank> single(shape, block_bits);
  const auto values = random() % 2 == 0
                          ? any_finite<Scalar>(shape.count(), random)
                          : make_array<Scalar>(kAllKinds[random() % std::size(kAllKinds)],
                                               shape.count(), static_cast<unsigned>(random()));
  std::vector<std::byte> stream(4 * single.words);
  ASSERT_TRUE(zfp::encode_blocks(reinterpret_cast<const std::byte*>(values.data()),
                                 kDtypeOf<Scalar>, shape, block_bits, stream.data()));
  ASSERT_EQ(stream, single.encode(values));

  const auto expect_values = [&] {
    std::vector<Scalar> decoded(shape.count());
    zfp::decode_blocks(stream.data(), kDtypeOf<Scalar>, shape, block_bits,
                       reinterpret_cast<std::byte*>(decoded.data()));
    ASSERT_EQ(bits_of(decoded), bits_of(single.decode(stream, shape.count())));
  };
  expect_values();
  // Some bits damaged; then bits that no encoder wrote, the fewer ones the longer planes go on.
  for (int i = 0; i < 8; ++i) stream[random() % stream.size()] ^= std::byte{1} << random() % 8;
  expect_values();
  const auto thin = random() % 6;
  for (auto& byte : stream) {
    auto bits = static_cast<unsigned>(random());
    for (unsigned i = 0; i < thin; ++i) bits &= static_cast<unsigned>(random());
    byte = static_cast<std::byte>(bits);
  }
  expect_values();
}

template <typename Scalar, int kRank>
void expect_same_at_all_rates(const std::vector<Shape>& shapes) {
  std::mt19937 random(kRank);
  const int most = zfp::max_block_bits(kDtypeOf<Scalar>, kRank);
  const int step = most > 256 ? 3 : 1;
  for (int bits = zfp::header_bits(kDtypeOf<Scalar>); bits <= most; bits += step) {
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(::testing::Message() << shape.count() << " values, blocks of " << bits);
      expect_same<Scalar, kRank>(shape, bits, random);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

template <typename Scalar>
class ZfpGroups : public ::testing::Test {};
TYPED_TEST_SUITE(ZfpGroups, ZfpScalars, DtypeNames);

TYPED_TEST(ZfpGroups, Lines) {
  expect_same_at_all_rates<TypeParam, 1>({Shape::line(3), Shape::line(256), Shape::line(203)});
}

TYPED_TEST(ZfpGroups, Planes) {
  expect_same_at_all_rates<TypeParam, 2>({make_shape({5, 3}), make_shape({9, 70})});
}

TYPED_TEST(ZfpGroups, Volumes) {
  expect_same_at_all_rates<TypeParam, 3>({make_shape({3, 2, 5}), make_shape({5, 4, 66})});
}

}  // namespace
}  // namespace thinwire::codec::testing
