// Tests when a rank offers the others a new slot size, in 512ths of a block's raw bytes.
#include "run/needs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace thinwire::nccl {
namespace {

struct Offers {
  std::vector<std::uint64_t> at;
  std::vector<int> needed;
};

// The offers of so many calls with these needs.
Offers offers(std::uint64_t calls, const std::function<std::uint32_t(std::uint64_t)>& need) {
  Needs needs;
  Offers made;
  for (std::uint64_t call = 0; call < calls; ++call) {
    if (const auto offered = needs.take(need(call), false)) {
      made.at.push_back(call);
      made.needed.push_back(*offered);
    }
  }
  return made;
}

TEST(Needs, TheFirstAndWhatIsLargerIsOfferedAtOnce) {
  const Offers made = offers(200, [](auto call) { return call < 100 ? 200U : 230U; });
  EXPECT_EQ(made.at, (std::vector<std::uint64_t>{0, 100}));
  EXPECT_EQ(made.needed, (std::vector<int>{200, 244})) << "and room, as calls differ";
}

TEST(Needs, WhatTheReserveHoldsIsNoChange) {
  const Offers made = offers(10'000, [](auto call) { return 320U + call % 10; });
  EXPECT_EQ(made.needed, std::vector<int>{320});
}

TEST(Needs, FallAfterARunThatNeedsLess) {
  const Offers made = offers(3000, [](auto call) { return call < 100 ? 400U : 90U + call % 7; });
  // The first run has calls of both kinds.
  EXPECT_EQ(made.at, (std::vector<std::uint64_t>{0, 512}));
  EXPECT_EQ(made.needed, (std::vector<int>{400, 96}));
}

TEST(Needs, ALittleLessIsNotWorthAChange) {
  const Offers made = offers(3000, [](auto call) { return call < 4 ? 400U : 352U; });
  EXPECT_EQ(made.needed, std::vector<int>{400});
}

TEST(Needs, OneSpilledBlockIsForgottenAfterARun) {
  const Offers made = offers(2000, [](auto call) { return call == 300 ? 500U : 200U; });
  EXPECT_EQ(made.needed, (std::vector<int>{200, 500, 200}));
  EXPECT_EQ(made.at[1], 300U);
  EXPECT_EQ(made.at[2], 300 + Needs::kShortestRun);
}

// Data of two kinds that come by turns: at last it is taken for what it needs at its most.
TEST(Needs, WhatComesAndGoesIsNotLoweredForEver) {
  constexpr std::uint64_t kPeriod = 5000;
  const Offers made =
      offers(400 * kPeriod, [](auto call) { return call / kPeriod % 2 == 0 ? 400U : 100U; });
  EXPECT_EQ(made.needed.back(), 425);
  // Runs of 256, 512, ... 8192, which have calls of both kinds.
  EXPECT_LE(made.at.size(), 13U);
  EXPECT_LT(made.at.back(), 20 * kPeriod);
}

TEST(Needs, RareOnesCostAtMostAnOfferALongestRun) {
  constexpr std::uint64_t kCalls = 10'000'000;
  const Offers made = offers(kCalls, [](auto call) { return call % 100'000 == 99 ? 500U : 50U; });
  EXPECT_LE(made.at.size(), 2 * (kCalls / Needs::kLongestRun + 9));
}

TEST(Needs, TheFirstShowHowMuchCallsDiffer) {
  const Offers made = offers(200, [](auto call) { return call % 2 == 0 ? 400U : 300U; });
  EXPECT_EQ(made.needed, (std::vector<int>{400, 425}));
  EXPECT_EQ(made.at, (std::vector<std::uint64_t>{0, 1}));
}

TEST(Needs, WhatDriftsIsRaisedAFewTimes) {
  const Offers made = offers(300, [](auto call) { return 200U + static_cast<unsigned>(call); });
  EXPECT_LT(made.at.size(), 20U) << "a step at a time it would be 29";
}

TEST(Needs, AfterALargeSpillMoreIsOfferedOnceTheNeedIsKnown) {
  Needs needs;
  EXPECT_EQ(needs.take(200, false), 200);
  EXPECT_EQ(needs.spill(), Needs::kNone);
  EXPECT_EQ(needs.spill(), std::nullopt) << "said already";
  EXPECT_EQ(needs.take(201, false), std::nullopt) << "it was another call";
  const auto offered = needs.take(300, false);
  ASSERT_TRUE(offered);
  EXPECT_GT(*offered, 300);
  EXPECT_LT(*offered, 330);
  EXPECT_EQ(needs.times_in_vain(), 0);
}

TEST(Needs, AKindThatComesBackInVainIsTriedMoreRarely) {
  Needs needs;
  EXPECT_EQ(needs.take(200, false), 200);
  for (unsigned times = 0; times < 12; ++times) {
    EXPECT_EQ(needs.spill(), Needs::kNone);
    EXPECT_EQ(needs.take(510, false), std::nullopt);
    EXPECT_EQ(needs.times_in_vain(), std::min(times, 8U));
    for (int call = 0; call < 300; ++call) {
      EXPECT_EQ(needs.take(200, false), std::nullopt) << "of a call that was under way";
    }
    EXPECT_EQ(needs.take(510, true), std::nullopt);
    EXPECT_EQ(needs.take(200, true), 200);
  }
}

TEST(Needs, OfAKindThatWasRawTheLastCounts) {
  Needs needs;
  EXPECT_EQ(needs.take(700, false), Needs::kNone);
  EXPECT_EQ(needs.take(300, false), std::nullopt);
  EXPECT_EQ(needs.take(300, true), 300);
}

}  // namespace
}  // namespace thinwire::nccl
