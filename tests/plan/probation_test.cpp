// Whether calls of a class are compressed, from what they took both ways.
#include "plan/probation.h"

#include <gtest/gtest.h>

namespace thinwire::plan {
namespace {

TEST(Probation, BeginsWhereATwentiethIsGained) {
  EXPECT_TRUE(pays({.raw = 1000, .coded = 949}, false));
  EXPECT_FALSE(pays({.raw = 1000, .coded = 950}, false));
  EXPECT_FALSE(pays({.raw = 1000, .coded = 2000}, false));
}

TEST(Probation, GoesOnWhereNothingIsLost) {
  EXPECT_TRUE(pays({.raw = 1000, .coded = 1000}, true));
  EXPECT_FALSE(pays({.raw = 1000, .coded = 1001}, true));
}

TEST(Probation, WhatWasNotMeasuredDoesNotPay) {
  for (const bool coded : {false, true}) {
    EXPECT_FALSE(pays({.raw = 1000, .coded = 0}, coded));
    EXPECT_FALSE(pays({.raw = 0, .coded = 1000}, coded));
  }
}

TEST(Probation, HasCallsOfTwoWholeGroups) {
  EXPECT_EQ(probation_calls(0), 8);
  EXPECT_EQ(probation_calls(1), 8);
  for (std::uint32_t span = 3; span <= 300; ++span) EXPECT_GE(probation_calls(span), 3 * span);
  EXPECT_EQ(probation_calls(UINT32_MAX), 1024);
}

// Whatever was measured: the calls that went the slower way took less than a hundredth of the time.
TEST(Probation, CostsLittleHoweverOften) {
  for (const std::uint64_t raw : {1U, 10U, 100U, 1000U, 100'000U}) {
    for (const std::uint64_t coded : {1U, 9U, 110U, 5000U, 100'000U}) {
      for (const std::uint32_t calls : {8U, 60U, 1024U}) {
        const ProbationTimes took{raw, coded};
        const double less = static_cast<double>(std::min(raw, coded));
        const double lost = calls * (static_cast<double>(std::max(raw, coded)) - less);
        std::uint64_t before = 0;
        for (std::uint32_t confirmed = 0; confirmed < 6; ++confirmed) {
          const std::uint64_t between = calls_between(took, calls, confirmed);
          EXPECT_LT(lost, 0.01 * less * static_cast<double>(between));
          EXPECT_GT(between, before) << "ever more rarely";
          before = between;
        }
        EXPECT_EQ(calls_between(took, calls, 1000), calls_between(took, calls, 6));
      }
    }
  }
}

TEST(Probation, WhatTakesLongerThanTheOtherWayDidIsOvertaken) {
  EXPECT_TRUE(is_overtaken(1001, {.raw = 1000, .coded = 500}, true));
  EXPECT_FALSE(is_overtaken(1000, {.raw = 1000, .coded = 500}, true));
  // Raw calls may have been the slower ones by less than is worth a change.
  EXPECT_FALSE(is_overtaken(1050, {.raw = 1000, .coded = 970}, false));
  EXPECT_TRUE(is_overtaken(1051, {.raw = 1000, .coded = 970}, false));
  EXPECT_FALSE(is_overtaken(1300, {.raw = 1000, .coded = 1300}, false));
  EXPECT_FALSE(is_overtaken(1300, {}, false));
  EXPECT_FALSE(is_overtaken(1300, {}, true));
}

TEST(Probation, HasNoNumberTooLarge) {
  EXPECT_GT(calls_between({UINT64_MAX, 0}, 1024, 100), 1024);
  EXPECT_GT(calls_between({0, 0}, 0, 0), 0);
}

}  // namespace
}  // namespace thinwire::plan
