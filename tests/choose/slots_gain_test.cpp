// Which calls in slots are not tried, as they cannot gain.
#include "choose/slots_gain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace thinwire::choose {
namespace {

constexpr double kGbit = 1e9 / 8, kMiB = 1 << 20;

// An AllReduce in levels, of an array of so many bytes, by nodes of eight.
SlotsWork sum_of(double bytes, double launches, double messages) {
  return {.native = 2 * bytes,
          .coded = 2 * bytes,
          .encoded = bytes,
          .decoded = bytes / 4,
          .launches = launches,
          .messages = messages};
}

TEST(SlotsGain, FallsWithTheRateOfTheLink) {
  const SlotsWork work = sum_of(64 * kMiB, 271, 2044);
  double last = std::numeric_limits<double>::infinity();
  for (const double gbit : {1., 10., 100., 400., 3200., 1e5}) {
    const double gain = hoped_gain_seconds(work, gbit * kGbit, 2);
    EXPECT_LT(gain, last);
    last = gain;
  }
  EXPECT_GT(hoped_gain_seconds(work, 100 * kGbit, 2), 0);
  EXPECT_LT(last, 0);
}

TEST(SlotsGain, FallsWithStepsAndMessages) {
  const double link = 3200 * kGbit;
  EXPECT_GT(hoped_gain_seconds(sum_of(64 * kMiB, 13, 12), link, 2), 0);
  EXPECT_LT(hoped_gain_seconds(sum_of(64 * kMiB, 271, 2044), link, 2), 0);
  EXPECT_GT(hoped_gain_seconds(sum_of(1024 * kMiB, 271, 2044), link, 2), 0);
}

TEST(SlotsGain, WaysThatSendMoreThanNcclLose) {
  SlotsWork work = sum_of(64 * kMiB, 3183, 2044);
  work.coded = 8 * work.native;  // each rank of a node to all others
  EXPECT_LT(hoped_gain_seconds(work, kGbit, 2), 0);
}

TEST(SlotsGain, WhatIsNotKnownSavesNothing) {
  const SlotsWork work = sum_of(64 * kMiB, 13, 12);
  for (const double rate : {0., -1., std::nan("")}) {
    EXPECT_EQ(hoped_gain_seconds(work, rate, 2), 0);
    EXPECT_EQ(hoped_gain_seconds(work, kGbit, rate), 0);
  }
}

}  // namespace
}  // namespace thinwire::choose
