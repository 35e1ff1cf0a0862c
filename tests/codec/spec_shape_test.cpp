// "shape=" in codec specs: parsing, the normal form, and what becomes of it for a count.
#include <gtest/gtest.h>

#include "codec/spec.h"

namespace thinwire::codec {
namespace {

Shape shape_of(const char* spec, std::uint64_t count) {
  const auto parsed = parse_spec(spec);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  const auto shape = parsed->shape_of(count);
  EXPECT_TRUE(shape.ok()) << shape.status().message();
  return shape.ok() ? *shape : Shape{.rank = 0};
}

Shape make_shape(int rank, std::array<std::uint64_t, kMaxRank> extent) {
  return {.rank = rank, .extent = extent};
}

TEST(SpecShape, NormalFormPutsItBehindTheCodecsOwn) {
  const char* const cases[][2] = {{"zfp:rate=8,shape=24x224x224", "zfp:rate=8,shape=24x224x224"},
                                  {"zfp:shape=?x12,rate=8.0", "zfp:rate=8,shape=?x12"},
                                  {"raw:shape=7", "raw:shape=7"},
                                  {"mpc:shape=3x?", "mpc:stride=1,shape=3x?"},
                                  {"zfp:rate=8", "zfp:rate=8"}};
  for (const auto& [given, normal] : cases) {
    const auto spec = parse_spec(given);
    ASSERT_TRUE(spec.ok()) << given << ": " << spec.status().message();
    EXPECT_EQ(spec->text(), normal);
    EXPECT_EQ(parse_spec(spec->text())->text(), normal);
  }
}

TEST(SpecShape, OthersAreRefusedWithAReason) {
  for (const char* shape : {"", "x", "3x", "x3", "3xx3", "0", "3x0", "?x?", "-3", "3.0x2", "2X3",
                            "1x2x3x4x5", "18446744073709551616", "3 x 4", "3*4"}) {
    const auto spec = parse_spec("zfp:rate=8,shape=" + std::string(shape));
    EXPECT_EQ(spec.status().code(), StatusCode::kInvalidArgument) << shape;
    EXPECT_NE(spec.status().message().find("codec spec: "), std::string::npos) << shape;
  }
  EXPECT_FALSE(parse_spec("zfp:rate=8,shape=3,shape=3").ok());
  EXPECT_FALSE(parse_spec("zfp:shape=3x4").ok());
  EXPECT_FALSE(parse_spec("off:shape=3x4").ok());
  EXPECT_EQ(parse_spec("auto:shape=3x4")->text(), "auto:shape=3x4");
  EXPECT_FALSE(parse_spec("auto:rate=3").ok());
}

TEST(SpecShape, FitsTheCount) {
  EXPECT_EQ(shape_of("zfp:rate=8", 60), Shape::line(60));
  EXPECT_EQ(shape_of("zfp:rate=8,shape=5x12", 60), make_shape(2, {5, 12}));
  EXPECT_EQ(shape_of("zfp:rate=8,shape=?x12", 60), make_shape(2, {5, 12}));
  EXPECT_EQ(shape_of("zfp:rate=8,shape=5x?x3", 60), make_shape(3, {5, 4, 3}));
  EXPECT_EQ(shape_of("zfp:rate=8,shape=?", 60), Shape::line(60));
  EXPECT_EQ(shape_of("raw:shape=5x2x2x?", 60), make_shape(4, {5, 2, 2, 3}));
  EXPECT_EQ(shape_of("zfp:rate=8,shape=5x12", 0), Shape::line(0));
}

TEST(SpecShape, WhereItDoesNotFitLosslessGoesOnAndLossyDoesNot) {
  for (const std::uint64_t count : {1, 59, 61, 120}) {
    EXPECT_EQ(shape_of("raw:shape=5x12", count), Shape::line(count));
    const auto lossy = parse_spec("zfp:rate=8,shape=5x12")->shape_of(count);
    EXPECT_EQ(lossy.status().code(), StatusCode::kUnsupported) << count;
    EXPECT_NE(lossy.status().message().find("shape=5x12"), std::string::npos);
  }
  EXPECT_FALSE(parse_spec("zfp:rate=8,shape=?x7")->shape_of(60).ok());
  // Products that leave 64 bits fit nothing.
  EXPECT_FALSE(parse_spec("zfp:rate=8,shape=4294967296x4294967296")->shape_of(1).ok());
}

TEST(SpecShape, MoreExtentsThanTheCodecHasRanks) {
  // Coded in another shape, kept in the frame.
  EXPECT_EQ(shape_of("mpc:shape=5x12", 60).rank, 2);
  EXPECT_EQ(shape_of("lorenzo:shape=5x2x2x3", 60), make_shape(4, {5, 2, 2, 3}));
  EXPECT_EQ(shape_of("zfp:rate=8,shape=5x2x?x3", 60), make_shape(4, {5, 2, 2, 3}));
}

}  // namespace
}  // namespace thinwire::codec
