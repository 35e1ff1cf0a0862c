// Which piece of a message is encoded as a sample, and the shape that its values have.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "shim/mpi/message/sample.h"

namespace thinwire::mpi {
namespace {

TEST(Sample, IsASmallPieceFromTheMiddle) {
  const tw_shape line{TW_F64, 1, {1 << 18}};
  const auto piece = piece_of(line, 2 << 20, 0);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->shape.dtype, static_cast<std::uint32_t>(TW_F64));
  EXPECT_EQ(piece->shape.extent[0] * 8, 16U * 1024);
  EXPECT_NEAR(static_cast<double>(piece->offset), 1 << 20, 16 * 1024);
  EXPECT_EQ(piece->offset % 8, 0U);
}

TEST(Sample, HasABoundedCost) {
  for (std::uint64_t count = 1; count < 1 << 20; count += count / 3 + 1) {
    const auto piece = piece_of({TW_F32, 1, {count}}, 4 * count, 0);
    if (!piece) continue;
    EXPECT_LE(piece->shape.extent[0], count / 32);
    EXPECT_LE(piece->shape.extent[0] * 4, 16U * 1024);
  }
  EXPECT_TRUE(piece_of({TW_F32, 1, {32 * 1024}}, 128 * 1024, 0));
}

TEST(Sample, MovesOverTheWholeArrayAndStaysInside) {
  const std::uint64_t planes = 100, plane = 40 * 50 * 4;
  std::set<std::uint64_t> places;
  for (std::uint32_t turn = 0; turn < 1000; ++turn) {
    const auto piece = piece_of({TW_F32, 3, {planes, 40, 50}}, planes * plane, turn);
    ASSERT_TRUE(piece);
    EXPECT_EQ(piece->offset % plane, 0U);
    EXPECT_LE(piece->offset + piece->shape.extent[0] * plane, planes * plane);
    EXPECT_EQ(piece->shape.extent[1], 40U);
    EXPECT_EQ(piece->shape.extent[2], 50U);
    places.insert(piece->offset);
  }
  EXPECT_EQ(places.size(), 8U);
}

TEST(Sample, IsNotTakenWhereItSavesLittle) {
  EXPECT_FALSE(piece_of({TW_F32, 1, {0}}, 0, 0));
  EXPECT_FALSE(piece_of({TW_F32, 1, {2048}}, 8192, 0));
  EXPECT_FALSE(piece_of({TW_F32, 2, {4, 1 << 20}}, 16 << 20, 0));
}

}  // namespace

namespace {

using Codec = std::unique_ptr<tw_codec, void (*)(tw_codec*)>;

Codec codec(const char* spec) {
  tw_codec* made = nullptr;
  EXPECT_EQ(tw_codec_create(spec, &made), TW_OK) << tw_last_error();
  return {made, tw_codec_destroy};
}

// One element: 5 x 2 floats.
const TypeFacts kBlock{40, TW_F32, Values::kReals, false, 2, {5, 2}};

void expect_shape(const std::optional<tw_shape>& shape, std::vector<std::uint64_t> extents) {
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->dtype, static_cast<std::uint32_t>(TW_F32));
  EXPECT_EQ(std::vector<std::uint64_t>(shape->extent, shape->extent + shape->rank), extents);
}

TEST(Shape, OneElementHasItsDatatypes) {
  expect_shape(shape_of(codec("shrink").get(), kBlock, 40), {5, 2});
}

TEST(Shape, SeveralElementsAreALine) {
  expect_shape(shape_of(codec("shrink").get(), kBlock, 120), {30});
}

TEST(Shape, MoreAxesThanTheCodecTakesAreTheDatatypesAllTheSame) {
  const TypeFacts block{96, TW_F32, Values::kReals, false, 4, {2, 3, 2, 2}};
  expect_shape(shape_of(codec("zfp:rate=16").get(), block, 96), {2, 3, 2, 2});
}

TEST(Shape, ALineOfATypeWithoutShape) {
  expect_shape(shape_of(codec("shrink").get(), {4, TW_F32, Values::kReals, true}, 40), {10});
}

TEST(Shape, TheSpecComesFirst) {
  expect_shape(shape_of(codec("zfp:rate=16,shape=10").get(), kBlock, 40), {10});
}

TEST(Shape, ALossyCodecNeedsTheStatedOne) {
  EXPECT_FALSE(shape_of(codec("zfp:rate=16,shape=9").get(), kBlock, 40));
}

TEST(Shape, ALosslessOneGoesWithout) {
  expect_shape(shape_of(codec("mpc:shape=9").get(), kBlock, 40), {10});
}

}  // namespace

}  // namespace thinwire::mpi
