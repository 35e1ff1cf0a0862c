#include "choose/pay_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace thinwire::choose {
namespace {

TEST(Guard, StartsForAClearGainAndStopsAtALoss) {
  Guard guard;
  EXPECT_FALSE(guard.takes(1, 0.97));
  EXPECT_TRUE(guard.takes(1, 0.90));
  EXPECT_TRUE(guard.takes(1, 0.97));
  EXPECT_FALSE(guard.takes(1, 1.01));
  EXPECT_FALSE(guard.takes(1, 0.97));
}

TEST(Guard, TakesNoCostThatWasNeverMeasured) {
  Guard guard;
  EXPECT_FALSE(guard.takes(1, std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(guard.takes(1, std::nan("")));
}

TEST(Guard, NoticesASlowCodecWithinAFewMessages) {
  Guard guard;
  const plan::CodecCost measured{1e9, 1e9, 2};
  int coded = 0;
  for (int message = 0; message < 20; ++message) {
    // 1 MB at 125 MB/s; encoding takes ten times what was measured.
    const plan::CodecCost cost = guard.cost(measured);
    const double seconds = 1e6 / cost.encode_bytes_per_second + 1e6 / cost.decode_bytes_per_second;
    if (!guard.takes(0.008, seconds + 0.008 / 2)) continue;
    ++coded;
    guard.took(0.001, 0.010);
  }
  EXPECT_GE(coded, 1);
  EXPECT_LE(coded, 4);
}

TEST(Guard, TriesAgainAtABoundedRate) {
  Guard guard;
  double raw = 0, tries = 0;
  int coded = 0;
  for (int message = 0; message < 100000; ++message) {
    raw += 0.006;
    if (!guard.takes(0.006, 0.064)) continue;
    ++coded;
    tries += 0.064;
  }
  EXPECT_GE(coded, 10);
  EXPECT_LE(tries, 0.01 * raw);
}

TEST(Guard, ComesBackWhenTriesShowThatItPays) {
  Guard guard;
  const plan::CodecCost measured{1e9, 1e9, 2};
  for (int attempt = 0; attempt < 10; ++attempt) guard.took(0.001, 0.020);
  int until = 0;
  for (; until < 100000 && !guard.codes(); ++until) {
    const plan::CodecCost cost = guard.cost(measured);
    const double seconds = 1e6 / cost.encode_bytes_per_second + 1e6 / cost.decode_bytes_per_second;
    if (guard.takes(0.008, seconds + 0.004)) guard.took(0.001, 0.001);
  }
  EXPECT_TRUE(guard.codes());
}

TEST(Guard, OneAttemptIsNotBelievedWhole) {
  Guard guard;
  guard.took(0.001, 10);  // the process did not run
  EXPECT_LE(guard.slowdown(), 3);
  guard.took(0, 1);
  guard.took(0.001, std::nan(""));
  EXPECT_LE(guard.slowdown(), 3);
}

TEST(LeastRatio, IsWhereCodingAndRawTakeAsLong) {
  EXPECT_DOUBLE_EQ(least_ratio_of(1, 0.5), 2);
  EXPECT_DOUBLE_EQ(least_ratio_of(1, 0), 1);
  EXPECT_TRUE(std::isinf(least_ratio_of(1, 1)));
  EXPECT_TRUE(std::isinf(least_ratio_of(1, std::nan(""))));
}

}  // namespace
}  // namespace thinwire::choose
