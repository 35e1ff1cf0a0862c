// Types that a codec takes under some options alone: what it does not take goes raw, for that
// reason, as a message and as a collective.
#include <gtest/gtest.h>

#include "plan/collective.h"
#include "plan/plan.h"

namespace thinwire::plan {
namespace {

constexpr Way kWays[] = {{Operation::kAllreduce, Algorithm::kRing, Coding::kOnce}};

Reason of_message(const char* spec, Dtype dtype) {
  Settings settings;
  settings.force = true;
  const Facts facts{.bytes = 1 << 20, .dtype = dtype, .peer = Peer::kOtherNode, .peer_ready = true};
  return plan_message(*codec::parse_spec(spec), settings, facts).reason;
}

Reason of_sum(const char* spec, Dtype dtype) {
  CollectiveFacts facts{.operation = Operation::kAllreduce, .dtype = dtype, .bytes = 1 << 20};
  facts.spread = {.ranks = 2, .nodes = 2};
  facts.ways = kWays;
  return plan_collective(*codec::parse_spec(spec), {.force = true}, facts).reason;
}

TEST(Takes, GoesByTheOptions) {
  for (const auto reason_of : {of_message, of_sum}) {
    EXPECT_EQ(reason_of("cast:to=fp32", Dtype::kF64), Reason::kCompress);
    EXPECT_EQ(reason_of("cast:to=fp32", Dtype::kF32), Reason::kDtype);
    EXPECT_EQ(reason_of("cast:to=bf16", Dtype::kF32), Reason::kCompress);
    EXPECT_EQ(reason_of("cast:to=bf16", Dtype::kBf16), Reason::kDtype);
  }
}

}  // namespace
}  // namespace thinwire::plan
