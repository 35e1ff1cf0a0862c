// "off", "auto" and "lossless": specs that name no codec.
#include <gtest/gtest.h>

#include "codec/spec.h"

namespace thinwire::codec {
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
}

TEST(SpecPolicy, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"off:shape=4", "auto:reductions=coded", "lossless:rate=8",
                           "lossless:reductions=some", "lossless:reductions=coded,reductions=coded",
                           "lossless,", "lossless:", "Lossless", "auto,shape=4"}) {
    EXPECT_FALSE(parse_spec(text).ok()) << text;
  }
}

}  // namespace
}  // namespace thinwire::codec
