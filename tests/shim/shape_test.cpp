#include "shim/mpi/message/sample.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

namespace thinwire::mpi {
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
