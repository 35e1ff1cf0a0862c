// Codec specs: those that name no codec, missing values, bounds of a result, shapes.
#include <gtest/gtest.h>

#include <cmath>

#include "codec/registry.h"
#include "codec/spec.h"

namespace thinwire::codec {

// "off", "auto" and "lossless": specs that name no codec.
namespace {

using Kind = Spec::Kind;
using Reductions = Spec::Reductions;

TEST(SpecPolicy, LosslessIsAutoThatNeedsNoLink) {
  const auto automatic = parse_spec("auto"), lossless = parse_spec("lossless");
  ASSERT_TRUE(automatic.ok() && lossless.ok());
  EXPECT_EQ(automatic->kind, Kind::kAuto);
  EXPECT_EQ(lossless->kind, Kind::kAuto);
  EXPECT_TRUE(automatic->needs_link());
  EXPECT_FALSE(lossless->needs_link());
  EXPECT_FALSE(parse_spec("off")->needs_link());
  EXPECT_FALSE(parse_spec("mpc")->needs_link());
  EXPECT_FALSE(*automatic == *lossless);
}

TEST(SpecPolicy, ReadsBackInItsNormalForm) {
  const char* const cases[][2] = {
      {"off", "off"},
      {"auto:shape=4x?", "auto:shape=4x?"},
      {"lossless", "lossless"},
      {"lossless:reductions=coded", "lossless:reductions=coded"},
      {"lossless,reductions=native", "lossless:reductions=native"},
      {"lossless:reductions=ordered,shape=4x?", "lossless:reductions=ordered,shape=4x?"},
      {"lossless,reductions=exact", "lossless:reductions=exact"},
      {"lossless:shape=8x?,reductions=native", "lossless:reductions=native,shape=8x?"},
  };
  for (const auto& [given, normal] : cases) {
    const auto spec = parse_spec(given);
    ASSERT_TRUE(spec.ok()) << given << ": " << spec.status().message();
    EXPECT_EQ(spec->text(), normal);
    EXPECT_EQ(*parse_spec(spec->text()), *spec);
  }
  EXPECT_EQ(parse_spec("lossless")->reductions, Reductions::kUnsaid);
  EXPECT_EQ(parse_spec("lossless:reductions=coded")->reductions, Reductions::kCoded);
  EXPECT_EQ(parse_spec("lossless:reductions=native")->reductions, Reductions::kNative);
  EXPECT_EQ(parse_spec("lossless:reductions=ordered")->reductions, Reductions::kOrdered);
  EXPECT_EQ(parse_spec("lossless:reductions=exact")->reductions, Reductions::kExact);
}

TEST(SpecPolicy, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"off:shape=4", "auto:reductions=coded", "lossless:rate=8", "lossless:reductions=some",
        "lossless:reductions=ordered+exact", "lossless:reductions=coded,reductions=coded",
        "lossless,", "lossless:", "Lossless", "auto,shape=4"}) {
    EXPECT_FALSE(parse_spec(text).ok()) << text;
  }
}

}  // namespace

// "fill=" in codec specs.
namespace {

TEST(SpecFill, NormalFormHasItBeforeTheShape) {
  const char* const cases[][2] = {
      {"szp:fill=auto,rel=1e-3", "szp:rel=0.001,fill=auto"},
      {"zfp:fill=nan,shape=3x?,rate=8", "zfp:rate=8,fill=nan,shape=3x?"},
      {"szp:abs=1e-3,fill=9.9692099683868690e+36", "szp:abs=0.001,fill=9.969209968386869e36"},
      {"szp:abs=1,fill=-9999", "szp:abs=1,fill=-9999"},
      {"szp:abs=1,fill=-inf", "szp:abs=1,fill=-inf"},
  };
  for (const auto& [given, normal] : cases) {
    const auto spec = parse_spec(given);
    ASSERT_TRUE(spec.ok()) << given << ": " << spec.status().message();
    EXPECT_EQ(spec->text(), normal);
    EXPECT_EQ(*parse_spec(spec->text()), *spec);
  }
  EXPECT_FALSE(parse_spec("szp:abs=1")->fill.exists());
  EXPECT_FALSE(*parse_spec("szp:abs=1") == *parse_spec("szp:abs=1,fill=auto"));
}

TEST(SpecFill, IsAnOptionOfLossyCodecsOfHostMemory) {
  for (const Codec* codec : all_codecs()) {
    const std::string example = codec->example;
    const char* const between = example.find(':') == std::string::npos ? ":" : ",";
    const auto spec = parse_spec(example + between + "fill=auto");
    EXPECT_EQ(spec.ok(), !codec->lossless && !codec->gpu_only) << codec->name;
    if (!spec.ok()) continue;
    EXPECT_EQ(spec->parameter, parse_spec(example)->parameter);
  }
}

TEST(SpecFill, OthersAreRefusedWithAReason) {
  for (const char* text : {"szp:abs=1,fill=x", "szp:abs=1,fill=infinity", "szp:abs=1,fill=1e999",
                           "szp:abs=1,fill=", "szp:abs=1,fill=1,fill=2", "szp:fill=auto",
                           "szp:allreduce-abs=1,fill=auto", "szp:abs=1,allreduce-rel=1,fill=nan",
                           "auto:fill=auto", "lossless:fill=auto", "off:fill=auto"}) {
    EXPECT_EQ(parse_spec(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace

// "allreduce-abs=" and "allreduce-rel=" in codec specs.
namespace {

using BoundKind = ResultBound::Kind;

TEST(SpecResultBound, NormalFormHasItBetweenTheCodecsOwnAndTheShape) {
  const char* const cases[][2] = {
      {"szp:allreduce-abs=1e-4", "szp:allreduce-abs=1e-4"},
      {"szp:allreduce-rel=0.0010", "szp:allreduce-rel=0.001"},
      {"szp:allreduce-abs=1E+3,abs=1e-03", "szp:abs=0.001,allreduce-abs=1000"},
      {"szp:shape=3x?,allreduce-rel=1,rel=1e-3", "szp:rel=0.001,allreduce-rel=1,shape=3x?"},
      {"szp:shape=4,allreduce-abs=2", "szp:allreduce-abs=2,shape=4"}};
  for (const auto& [given, normal] : cases) {
    const auto spec = parse_spec(given);
    ASSERT_TRUE(spec.ok()) << given << ": " << spec.status().message();
    EXPECT_EQ(spec->text(), normal);
    EXPECT_EQ(parse_spec(spec->text())->text(), normal);
  }
}

TEST(SpecResultBound, IsNoPartOfTheParameter) {
  const auto both = parse_spec("szp:abs=1e-3,allreduce-abs=1e-4");
  EXPECT_EQ(both->parameter, parse_spec("szp:abs=1e-3")->parameter);
  EXPECT_FALSE(both->reductions_alone);
  EXPECT_EQ(both->result_bound.kind, BoundKind::kAbsolute);
  EXPECT_EQ(both->result_bound.value, 1e-4);
  const auto alone = parse_spec("szp:allreduce-rel=1e-4");
  EXPECT_TRUE(alone->reductions_alone);
  EXPECT_EQ(alone->result_bound.kind, BoundKind::kRelative);
  EXPECT_FALSE(parse_spec("szp:abs=1e-3")->result_bound.exists());
  EXPECT_FALSE(parse_spec("auto")->result_bound.exists());
}

TEST(SpecResultBound, OthersAreRefusedWithAReason) {
  for (const char* bound : {"0", "-1", "nan", "inf", "1e999", "x", "1x", ""}) {
    for (const char* key : {"allreduce-abs=", "allreduce-rel="}) {
      const auto spec = parse_spec(std::string("szp:abs=1,") + key + bound);
      EXPECT_EQ(spec.status().code(), StatusCode::kInvalidArgument) << key << bound;
      EXPECT_NE(spec.status().message().find("codec spec: "), std::string::npos) << key << bound;
    }
  }
  EXPECT_FALSE(parse_spec("szp:allreduce-rel=1.5").ok());
  EXPECT_FALSE(parse_spec("szp:allreduce-rel=1e-3,allreduce-abs=1e-3").ok());
  EXPECT_FALSE(parse_spec("szp:allreduce-abs=1,allreduce-abs=1").ok());
  EXPECT_FALSE(parse_spec("szp:allreduce-abs=1,rate=3").ok());
  EXPECT_FALSE(parse_spec("szp:shape=3").ok());
  EXPECT_FALSE(parse_spec("auto:allreduce-abs=1").ok());
  EXPECT_FALSE(parse_spec("off:allreduce-abs=1").ok());
}

TEST(SpecResultBound, OnlyCodecsWithABoundHaveIt) {
  for (const Codec* codec : all_codecs()) {
    const auto spec = parse_spec(std::string(codec->name) + ":allreduce-abs=1");
    EXPECT_EQ(spec.ok(), codec->with_bound != nullptr) << codec->name;
    if (codec->with_bound == nullptr) continue;
    const std::uint64_t parameter = codec->with_bound(spec->parameter, 0.25);
    EXPECT_TRUE(codec->check(parameter, Dtype::kF32, 1).ok());
    EXPECT_FALSE(codec->open(parameter));
    EXPECT_EQ(codec->describe(parameter), "abs=0.25");
  }
}

}  // namespace

// "shape=" in codec specs: parsing, the normal form, and what becomes of it for a count.
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
