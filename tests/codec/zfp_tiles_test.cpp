// The arithmetic of the GPU side, on the CPU: tiles, blocks of tiles, streams in words of 32 bits.
#include <gtest/gtest.h>

#include "base/checksum.h"
#include "codec/cuda/tiles.h"
#include "codec/zfp/block.h"
#include "codec/zfp/sizes.h"
#include "codec/zfp/tile_plan.h"
#include "codec/zfp/word_stream.h"
#include "codec/zfp_arrays.h"

namespace thinwire::codec::testing {
namespace {

TEST(Tiles, CoverEveryPayloadOnce) {
  for (const std::uint32_t tile_bytes : {8u, 64u, 1016u, 16384u}) {
    for (const std::uint32_t chunk_bytes : {8u, 1000u, 16384u, 20001u}) {
      for (const std::uint32_t last_bytes : {1u, 8u, 999u, chunk_bytes}) {
        if (last_bytes > chunk_bytes) continue;
        for (const std::uint64_t chunks : {1, 2, 5}) {
          const auto whole = chunks == 1 ? last_bytes : chunk_bytes;
          const auto tiles = cuda::make_tiles(chunks, whole, last_bytes, tile_bytes);
          std::uint64_t at = 0;
          for (std::uint32_t index = 0; index < tiles.count(); ++index) {
            const cuda::Tile tile = tiles.at(index);
            ASSERT_EQ(tile.chunk * tiles.chunk_bytes + tile.offset, at);
            ASSERT_EQ(tile.offset % 8, 0u);
            ASSERT_GT(tile.bytes, 0u);
            ASSERT_LE(tile.bytes, tile_bytes);
            ASSERT_LT(tile.place, tile.chunk_tiles);
            ASSERT_LE(tile.offset + tile.bytes, tile.chunk_bytes);
            ASSERT_EQ(tile.place + 1 == tile.chunk_tiles,
                      tile.offset + tile.bytes == tile.chunk_bytes);
            at += tile.bytes;
          }
          EXPECT_EQ(at, tiles.payload_bytes());
          EXPECT_EQ(at, (chunks - 1) * whole + last_bytes);
        }
      }
    }
  }
  EXPECT_EQ(cuda::Tiles{}.count(), 0u);
}

TEST(Tiles, OfArraysBeyond32Bits) {
  const auto tiles = cuda::make_tiles(1 << 12, 1u << 30, 12345, 1u << 12);
  EXPECT_GT(tiles.payload_bytes(), 1ull << 41);
  const auto last = static_cast<std::uint32_t>(tiles.count() - 1);
  EXPECT_EQ(tiles.at(last).chunk, (1u << 12) - 1);
  EXPECT_EQ(tiles.at(last).bytes, 12345u % 4096);
  EXPECT_EQ(tiles.at((1u << 29) + 3).chunk, 1u << 11);
  EXPECT_EQ(tiles.at((1u << 29) + 3).offset, 3u << 12);
}

TEST(Tiles, TermsOfAllWordsMakeTheChecksum) {
  std::mt19937 random(3);
  for (const std::size_t size : {1, 8, 1024, 5000, 40007}) {
    std::vector<std::byte> bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    std::vector<std::byte> padded = bytes;
    padded.resize((size + 7) / 8 * 8);
    const auto count = static_cast<std::uint32_t>(size);
    const auto tiles = cuda::make_tiles(1, count, count, 1016);
    std::uint64_t sum = 0;
    for (auto index = static_cast<std::uint32_t>(tiles.count()); index-- > 0;) {
      const cuda::Tile tile = tiles.at(index);
      for (std::uint64_t at = tile.offset; at < tile.offset + tile.bytes; at += 8) {
        const std::uint64_t place = at / 8;
        sum += checksum_product(load<std::uint64_t>(padded.data() + at),
                                checksum_key(place % kChecksumLanes)) *
               checksum_weight(place / kChecksumLanes);
      }
    }
    EXPECT_EQ(checksum_finish(size, sum), checksum(bytes));
  }
}

constexpr zfp::ExpandTable kExpand = zfp::make_expand_table();
constexpr zfp::SearchTable kSearch = zfp::make_search_table();

// The work of a kernel's threads, one after the other and the last first, because their order must
// not matter.
template <typename Scalar, int kRank>
struct Tiled {
  Tiled(const Shape& shape, std::uint64_t parameter, std::uint32_t tile_blocks)
      : layout(make_layout(kZfp, parameter, {kDtypeOf<Scalar>, shape})) {
    plan.block_bits = zfp::block_bits(parameter, kDtypeOf<Scalar>, kRank);
    plan.chunks = layout.chunks;
    plan.whole = zfp::make_grid(layout.chunk(0).shape);
    plan.last = zfp::make_grid(layout.chunk(layout.chunks - 1).shape);
    plan.chunk_values = layout.chunk(0).shape.count();
    plan.tile_blocks = tile_blocks;
    const auto bytes = [&](std::uint64_t chunk) {
      return static_cast<std::uint32_t>(kZfp.bound(layout.chunk(chunk), parameter));
    };
    tiles = cuda::make_tiles(layout.chunks, bytes(0), bytes(layout.chunks - 1),
                             tile_blocks * static_cast<std::uint32_t>(plan.block_bits) / 8);
  }

  std::vector<std::byte> encode(const std::vector<Scalar>& values) const {
    std::vector<std::byte> stream(tiles.payload_bytes());
    for (std::uint32_t index = 0; index < tiles.count(); ++index) {
      const cuda::Tile tile = tiles.at(index);
      std::vector<std::uint32_t> words(tile.bytes / 4);
      for (std::uint32_t at = plan.blocks(tile); at-- > 0;) encode_one(values, tile, at, words);
      std::memcpy(stream.data() + tile.chunk * tiles.chunk_bytes + tile.offset, words.data(),
                  tile.bytes);
    }
    return stream;
  }

  std::vector<Scalar> decode(const std::vector<std::byte>& stream) const {
    std::vector<Scalar> values(layout.array.shape.count());
    for (std::uint32_t index = 0; index < tiles.count(); ++index) {
      const cuda::Tile tile = tiles.at(index);
      std::vector<std::uint32_t> words(tile.bytes / 4);
      std::memcpy(words.data(), stream.data() + tile.chunk * tiles.chunk_bytes + tile.offset,
                  tile.bytes);
      for (std::uint32_t at = 0; at < plan.blocks(tile); ++at) decode_one(words, tile, at, values);
    }
    return values;
  }

  void encode_one(const std::vector<Scalar>& values, const cuda::Tile& tile, std::uint32_t at,
                  std::vector<std::uint32_t>& words) const {
    const zfp::Grid grid = plan.grid(tile);
    Scalar block[zfp::kBlockValues<kRank>];
    const auto* chunk = values.data() + tile.chunk * plan.chunk_values;
    zfp::gather_block<Scalar, kRank>(reinterpret_cast<const std::byte*>(chunk), grid,
                                     zfp::TilePlan::place<kRank>(grid, plan.first_block(tile) + at),
                                     block);
    zfp::LocalWords<zfp::kPlaneWords<Scalar, kRank>> planes;
    zfp::BlockHead head;
    EXPECT_TRUE((zfp::make_planes<Scalar, kRank>(block, head, planes)));
    const auto write = [&](auto writer) {
      zfp::put_block<Scalar, kRank>(kExpand, head, planes, writer);
      writer.finish();
    };
    const std::uint32_t first = at * static_cast<std::uint32_t>(plan.block_bits);
    if (plan.block_bits % 32 == 0) {
      write(zfp::WordWriter<true>(words.data(), first, plan.block_bits));
    } else {
      write(zfp::WordWriter<false>(words.data(), first, plan.block_bits));
    }
  }

  void decode_one(const std::vector<std::uint32_t>& words, const cuda::Tile& tile, std::uint32_t at,
                  std::vector<Scalar>& values) const {
    const zfp::Grid grid = plan.grid(tile);
    zfp::WordReader reader(words.data(), tile.bytes / 4,
                           at * static_cast<std::uint32_t>(plan.block_bits));
    zfp::LocalWords<zfp::kPlaneWords<Scalar, kRank>> planes;
    Scalar block[zfp::kBlockValues<kRank>];
    zfp::decode_block<Scalar, kRank>(kSearch, reader, plan.block_bits, planes, block);
    auto* chunk = values.data() + tile.chunk * plan.chunk_values;
    zfp::scatter_block<Scalar, kRank>(
        block, grid, zfp::TilePlan::place<kRank>(grid, plan.first_block(tile) + at),
        reinterpret_cast<std::byte*>(chunk));
  }

  Layout layout;
  zfp::TilePlan plan{};
  cuda::Tiles tiles{};
};

template <typename Scalar, int kRank>
void expect_same_bytes(const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    for (const Kind kind : {Kind::kSmooth, Kind::kMixedScale, Kind::kNegativeZero}) {
      const auto values = make_array<Scalar>(kind, shape.count());
      for (const std::uint64_t rate : {1, 129, 201, 512, 723, 1024, 1041, 2048}) {
        SCOPED_TRACE(::testing::Message() << shape.count() << " values, " << rate << "/64 bits");
        const Tiled<Scalar, kRank> tiled(shape, rate, 64);
        const auto stream = *encode_array(values, shape, rate);
        ASSERT_EQ(tiled.encode(values), stream);
        ASSERT_EQ(bits_of(tiled.decode(stream)),
                  bits_of(*decode_array<Scalar>(stream, shape, rate)));
      }
    }
  }
}

template <typename Scalar>
class ZfpTiles : public ::testing::Test {};
TYPED_TEST_SUITE(ZfpTiles, ZfpScalars, DtypeNames);

TYPED_TEST(ZfpTiles, GiveTheBytesOfTheCpu) {
  expect_same_bytes<TypeParam, 1>({Shape::line(1), Shape::line(16400)});
  expect_same_bytes<TypeParam, 2>({make_shape({3, 5}), make_shape({171, 99})});
  expect_same_bytes<TypeParam, 3>({make_shape({2, 3, 5}), make_shape({35, 27, 25})});
}

}  // namespace
}  // namespace thinwire::codec::testing
