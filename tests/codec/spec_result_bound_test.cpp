// "allreduce-abs=" and "allreduce-rel=" in codec specs.
#include <gtest/gtest.h>

#include <cmath>

#include "codec/registry.h"
#include "codec/spec.h"

namespace thinwire::codec {
namespace {

using Kind = ResultBound::Kind;

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
  EXPECT_EQ(both->result_bound.kind, Kind::kAbsolute);
  EXPECT_EQ(both->result_bound.value, 1e-4);
  const auto alone = parse_spec("szp:allreduce-rel=1e-4");
  EXPECT_TRUE(alone->reductions_alone);
  EXPECT_EQ(alone->result_bound.kind, Kind::kRelative);
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
}  // namespace thinwire::codec
