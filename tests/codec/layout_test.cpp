// Positions of the boxes of a grid: those found without division against the plain ones.
#include "codec/layout.h"

#include <gtest/gtest.h>

#include <random>

namespace thinwire::codec {
namespace {

Shape cut;  // what the codec below says

Shape cut_shape(const Shape&, Dtype, std::uint64_t) { return cut; }

Layout layout_of(const Shape& array, const Shape& whole) {
  cut = whole;
  Codec codec{};
  codec.chunk_shape = cut_shape;
  codec.max_rank = kMaxRank;
  return make_layout(codec, 1, Chunk{Dtype::kF32, array});
}

void expect_same_boxes(const Layout& layout, std::mt19937_64& random) {
  Layout plain = layout;
  plain.is_small = false;
  for (int draw = 0; draw < 200; ++draw) {
    const std::uint64_t index = draw == 0   ? 0
                                : draw == 1 ? layout.chunks - 1
                                            : random() % layout.chunks;
    const Box fast = layout.box(index), slow = plain.box(index);
    ASSERT_EQ(fast.offset, slow.offset) << index;
    ASSERT_EQ(fast.x, slow.x) << index;
    ASSERT_EQ(fast.y, slow.y) << index;
    ASSERT_EQ(fast.z, slow.z) << index;
    ASSERT_TRUE(fast.y == 1 || fast.row == slow.row) << index;
    ASSERT_TRUE(fast.z == 1 || fast.plane == slow.plane) << index;
    ASSERT_EQ(fast.count(), layout.chunk(index).shape.count()) << index;
  }
}

TEST(Layout, BoxesAreFoundWithoutDivision) {
  std::mt19937_64 random(11);
  int small = 0;
  for (int round = 0; round < 1500; ++round) {
    Shape array{.rank = static_cast<int>(1 + random() % 3), .extent = {}};
    Shape whole{.rank = array.rank, .extent = {}};
    const bool is_large = round % 3 == 0;
    for (int axis = 0; axis < array.rank; ++axis) {
      const auto each = static_cast<std::size_t>(axis);
      array.extent[each] = 1 + random() % (is_large ? 2'000'000 : 300);
      whole.extent[each] = 1 + random() % (is_large ? 4 : 40);
    }
    const Layout layout = layout_of(array, whole);
    if (layout.chunks == 0) continue;  // more than there can be
    EXPECT_TRUE(!layout.is_small || layout.chunks < std::uint64_t{1} << 31);
    small += layout.is_small;
    expect_same_boxes(layout, random);
  }
  EXPECT_GT(small, 900);
}

TEST(Layout, SlowAxesThatACodecDoesNotTakeAreOne) {
  Codec codec{};
  codec.max_rank = 3;
  const Shape shape{.rank = 4, .extent = {3, 17, 64, 128}};
  EXPECT_EQ(coded_shape(codec, shape), (Shape{.rank = 3, .extent = {51, 64, 128}}));
  EXPECT_EQ(coded_shape(codec, shape, true), Shape::line(shape.count()));
  codec.max_rank = 2;
  EXPECT_EQ(coded_shape(codec, shape), (Shape{.rank = 2, .extent = {51 * 64, 128}}));
  codec.max_rank = 4;
  EXPECT_EQ(coded_shape(codec, shape), shape);
  codec.flat = true;
  EXPECT_EQ(coded_shape(codec, shape), Shape::line(shape.count()));
}

TEST(Layout, TheLargestGridsAreExact) {
  std::mt19937_64 random(12);
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 31) - 1;
  for (const std::uint64_t grid :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{7}, std::uint64_t{641},
        std::uint64_t{65535}, std::uint64_t{65537}, kMost / 2, kMost / 2 + 1, kMost - 1, kMost}) {
    Shape array{.rank = 2, .extent = {kMost / grid, grid}};
    Shape whole{.rank = 2, .extent = {1, 1}};
    const Layout layout = layout_of(array, whole);
    ASSERT_TRUE(layout.is_small) << grid;
    expect_same_boxes(layout, random);
  }
}

}  // namespace
}  // namespace thinwire::codec
