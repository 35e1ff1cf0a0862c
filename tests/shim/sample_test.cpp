#include "shim/mpi/message/sample.h"

#include <gtest/gtest.h>

#include <set>

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
}  // namespace thinwire::mpi
