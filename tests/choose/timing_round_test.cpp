// Whether calls of a kind are compressed, from what they took both ways.
#include "choose/timing_round.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace thinwire::choose {
namespace {

TEST(TimingRound, BeginsWhereATwentiethIsGained) {
  EXPECT_TRUE(pays({.raw = 1000, .coded = 949}, false));
  EXPECT_FALSE(pays({.raw = 1000, .coded = 950}, false));
  EXPECT_FALSE(pays({.raw = 1000, .coded = 2000}, false));
}

TEST(TimingRound, GoesOnWhereNothingIsLost) {
  EXPECT_TRUE(pays({.raw = 1000, .coded = 1000}, true));
  EXPECT_FALSE(pays({.raw = 1000, .coded = 1001}, true));
}

TEST(TimingRound, WhatWasNotMeasuredDoesNotPay) {
  for (const bool coded : {false, true}) {
    EXPECT_FALSE(pays({.raw = 1000, .coded = 0}, coded));
    EXPECT_FALSE(pays({.raw = 0, .coded = 1000}, coded));
  }
}

TEST(TimingRound, HasCallsOfTwoWholeGroups) {
  EXPECT_EQ(calls_of_round(0), 8);
  EXPECT_EQ(calls_of_round(1), kTimedAlone);
  EXPECT_GT(calls_of_round(2), kTimedAlone) << "which tells that there are groups";
  for (std::uint32_t span = 3; span <= 300; ++span) EXPECT_GE(calls_of_round(span), 3 * span);
  EXPECT_EQ(calls_of_round(UINT32_MAX), 1024);
}

std::string places(std::uint64_t round, std::uint32_t calls, std::uint64_t most) {
  std::string found;
  for (std::uint64_t at = 0; at < most; ++at) {
    const RoundPosition place = position_in_round(at, round, calls);
    found += !place.is_timed ? (place.is_other_way ? '!' : '.') : place.is_other_way ? 'O' : 'T';
  }
  return found;
}

TEST(TimingRound, GoesByTurnsAtFirstAndInTwoRunsOfGroups) {
  EXPECT_EQ(places(1, 8, 20), "TOOTOTTOOTTOTOOT....");
  EXPECT_EQ(places(1, 4, 10), "TOOTOTTO..");
  EXPECT_EQ(places(7, 9, 20), "TTTTTTTTTOOOOOOOOO..");
  EXPECT_EQ(places(1, 3, 8), "TTTOOO..") << "of no power of two";
}

TEST(TimingRound, IsSpreadLaterAsManyEachWay) {
  for (std::uint64_t round = 2; round < 50; ++round) {
    const std::string found = places(round, kTimedAlone, 100);
    EXPECT_EQ(std::ranges::count(found, 'T'), kTimedAlone);
    EXPECT_EQ(std::ranges::count(found, 'O'), kTimedAlone);
    EXPECT_EQ(std::ranges::count(found, '!'), 0);
    EXPECT_EQ(found.find_last_not_of('.') / 4, 2 * kTimedAlone - 1);
    EXPECT_NE(found, places(round + 1, kTimedAlone, 100));
  }
}

// True if calls of which compressed ones take 0.7 of the time are found not to pay, as the link is
// slow for some calls from `slow` on.
bool is_misled(std::uint64_t round, std::uint64_t slow) {
  constexpr std::uint64_t kSlowCalls = 12;
  TypicalTime raw, coded;
  for (std::uint64_t at = 0; at < 64; ++at) {
    const RoundPosition place = position_in_round(at, round, kTimedAlone);
    if (!place.is_timed) continue;
    const std::uint64_t slowed = at >= slow && at < slow + kSlowCalls ? 23 : 10;
    (place.is_other_way ? coded : raw).add((place.is_other_way ? 70 : 100) * slowed);
  }
  return !pays({raw.get(), coded.get()}, false);
}

TEST(TimingRound, ALinkThatIsSlowForAWhileMisleadsNone) {
  for (std::uint64_t slow = 0; slow < 60; ++slow) {
    for (std::uint64_t round = 1; round < 200; ++round) {
      EXPECT_FALSE(is_misled(round, slow)) << round << ' ' << slow;
    }
  }
}

TEST(TimingRound, ATypicalTimeIsTheSecondLeastOfEight) {
  TypicalTime time;
  EXPECT_EQ(time.get(), 0);
  for (const std::uint64_t took : {500, 0, 400, 450}) time.add(took);
  EXPECT_EQ(time.get(), 400) << "of three";
  for (const std::uint64_t took : {100, 900, 410, 600, 650}) time.add(took);
  EXPECT_EQ(time.get(), 400);
}

// Times from eight calls of each way.
RoundTimes times_of(const std::vector<std::uint64_t>& raw,
                    const std::vector<std::uint64_t>& coded) {
  TypicalTime typical[2];
  MeanTime mean[2];
  for (const std::uint64_t each : raw) typical[0].add(each), mean[0].add(each);
  for (const std::uint64_t each : coded) typical[1].add(each), mean[1].add(each);
  return {typical[0].get(), typical[1].get(), mean[0].get(), mean[1].get()};
}

TEST(TimingRound, CallsThatAreQuickAtTimesAloneDoNotPay) {
  const std::vector<std::uint64_t> raw(8, 1000),
      slow{50'000, 900, 50'000, 50'000, 900, 50'000, 50'000, 50'000};
  const RoundTimes took = times_of(raw, slow);
  EXPECT_LT(took.coded, 950) << "though their second least is short";
  EXPECT_FALSE(pays(took, false));
  EXPECT_FALSE(pays(took, true));
  // Two of eight are enough.
  EXPECT_FALSE(pays(times_of(raw, {900, 900, 900, 50'000, 900, 900, 50'000, 900}), true));
  // And raw calls that are quick at times do not hide that the others are slow, if that pays.
  EXPECT_TRUE(pays(times_of(slow, std::vector<std::uint64_t>(8, 800)), false));
}

TEST(TimingRound, OneSlowMomentOfEachWayDecidesNothing) {
  const std::vector<std::uint64_t> raw(8, 1000), coded(8, 700);
  std::vector<std::uint64_t> slow_raw = raw, slow_coded = coded;
  slow_raw[5] = 200'000;
  slow_coded[2] = 300'000;
  for (const bool is_coded : {false, true}) {
    EXPECT_TRUE(pays(times_of(raw, slow_coded), is_coded));
    EXPECT_TRUE(pays(times_of(slow_raw, slow_coded), is_coded));
    EXPECT_FALSE(pays(times_of(slow_coded, raw), is_coded)) << "that was raw by chance";
    EXPECT_FALSE(pays(times_of({700, 700, 700, 700, 700, 700, 700, 700}, slow_raw), is_coded));
  }
}

TEST(TimingRound, AMeanOfWhatIsNotKnownDecidesNothing) {
  MeanTime none;
  none.add(0);
  EXPECT_EQ(none.get(), 0);
  EXPECT_TRUE(pays({1000, 900, 0, 5000}, false));
  MeanTime few;
  for (const std::uint64_t each : {10, 20, 60}) few.add(each);
  EXPECT_EQ(few.get(), 30) << "of three none is left out";
  few.add(1000);
  EXPECT_EQ(few.get(), 30);
  few.add(UINT64_MAX);
  EXPECT_GE(few.get(), 30) << "no sum is too large";
}

// A pause of an hour in two calls of a way, and the same again.
TEST(TimingRound, ALongPauseDoesNotPutTheNextOneOffForDays) {
  const RoundTimes took{1000, 700, 1000, 1'000'000'000};
  EXPECT_FALSE(pays(took, false));
  EXPECT_LE(calls_between(took, 8, 0), 8 * 16 * 200);
  EXPECT_LE(calls_between(took, 8, 0, true), 8 * 16 * 50);
  EXPECT_GT(calls_between(took, 8, 0), calls_between({1000, 700}, 8, 0));
}

TEST(TimingRound, AMeanThatGrowsIsOvertaken) {
  const RoundTimes took{1000, 700, 1000, 800};
  EXPECT_FALSE(is_overtaken_by_means(1250, took, true));
  EXPECT_TRUE(is_overtaken_by_means(1251, took, true));
  EXPECT_FALSE(is_overtaken_by_means(1250, took, false));
  EXPECT_TRUE(is_overtaken_by_means(1251, took, false));
  EXPECT_FALSE(is_overtaken_by_means(1'000'000, {1000, 700}, true)) << "none is known";
}

TEST(TimingRound, ComesAgainSoonBehindTheFirst) {
  const RoundTimes took{1000, 2000};
  EXPECT_EQ(calls_between(took, 8, 0, true), 400);
  EXPECT_EQ(calls_between(took, 8, 0), 1600);
}

// Whatever was measured: the calls that went the slower way took less than a hundredth of the time.
TEST(TimingRound, CostsLittleHoweverOften) {
  for (const std::uint64_t raw : {1U, 10U, 100U, 1000U, 100'000U}) {
    for (const std::uint64_t coded : {1U, 9U, 110U, 5000U, 100'000U}) {
      for (const std::uint32_t calls : {8U, 60U, 1024U}) {
        const RoundTimes took{raw, coded};
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

TEST(TimingRound, WhatTakesLongerThanTheOtherWayDidIsOvertaken) {
  EXPECT_TRUE(is_overtaken(1001, {.raw = 1000, .coded = 500}, true));
  EXPECT_FALSE(is_overtaken(1000, {.raw = 1000, .coded = 500}, true));
  // Raw calls may have been the slower ones by less than is worth a change.
  EXPECT_FALSE(is_overtaken(1050, {.raw = 1000, .coded = 970}, false));
  EXPECT_TRUE(is_overtaken(1051, {.raw = 1000, .coded = 970}, false));
  EXPECT_FALSE(is_overtaken(1300, {.raw = 1000, .coded = 1300}, false));
  EXPECT_FALSE(is_overtaken(1300, {}, false));
  EXPECT_FALSE(is_overtaken(1300, {}, true));
}

TEST(TimingRound, HasNoNumberTooLarge) {
  EXPECT_GT(calls_between({UINT64_MAX, 0}, 1024, 100), 1024);
  EXPECT_GT(calls_between({0, 0}, 0, 0), 0);
}

}  // namespace
}  // namespace thinwire::choose
