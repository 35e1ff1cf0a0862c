#include "choose/link.h"

#include <gtest/gtest.h>

#include <random>

namespace thinwire::choose {
namespace {

constexpr double kMega = 1e6;

// Messages of so many bytes over a link of that rate, as the kernel counts their time.
void send(LinkEstimate& link, double bytes, double rate, int messages) {
  for (int at = 0; at < messages; ++at) link.add({bytes, bytes / rate});
}

TEST(LinkRate, WhatTheMachineSaysIsNotVouchedFor) {
  EXPECT_TRUE(is_vouched_for({125 * kMega, RateSource::kStated}));
  EXPECT_TRUE(is_vouched_for({125 * kMega, RateSource::kMeasured}));
  EXPECT_FALSE(is_vouched_for({125 * kMega, RateSource::kMachine}));
  EXPECT_FALSE(is_vouched_for({}));
  LinkEstimate link({125 * kMega, RateSource::kMachine});
  link.add({0, 0});
  EXPECT_FALSE(is_vouched_for(link.rate()));
  for (int window = 0; window < 8; ++window) link.add({10 * kMega, 0.1});
  EXPECT_TRUE(is_vouched_for(link.rate()));
}

TEST(LinkEstimate, HoldsWhatIsStatedUntilMessagesTell) {
  LinkEstimate link({125 * kMega, RateSource::kStated});
  EXPECT_EQ(link.rate().bytes_per_second, 125 * kMega);
  EXPECT_EQ(link.rate().source, RateSource::kStated);
  send(link, kMega, 12.5 * kMega, 1);
  EXPECT_EQ(link.rate().source, RateSource::kStated);
  send(link, kMega, 12.5 * kMega, 1);
  EXPECT_NEAR(link.rate().bytes_per_second, 12.5 * kMega, 1);
  EXPECT_EQ(link.rate().source, RateSource::kMeasured);
}

// The first messages of a connection, whose window is still small and whose receiver is late.
TEST(LinkEstimate, DoesNotBelieveTheFirstMessagesAlone) {
  for (const double first : {52 * kMega, 157 * kMega}) {
    LinkEstimate link({312.5 * kMega, RateSource::kMachine});
    send(link, 4 * kMega, first, 1);
    EXPECT_FALSE(is_vouched_for(link.rate()));
    send(link, 4 * kMega, 1100 * kMega, 20);
    EXPECT_NEAR(link.rate().bytes_per_second, 1100 * kMega, 20 * kMega);
  }
}

// Frames of 850 KB whose end waits 3 ms for a receiver that decodes.
TEST(RateOfRaw, IsNotThatOfMessagesWhoseEndWaits) {
  LinkEstimate link;
  RateOfRaw raw;
  const auto message = [&](double bytes, double rate, double wait, bool is_raw) {
    const Delivered delivered{bytes, bytes / rate + wait};
    link.add(delivered);
    if (is_raw) raw.add(delivered);
  };
  for (int at = 0; at < 3; ++at) message(4 * kMega, 118 * kMega, 0, true);
  for (int at = 0; at < 100; ++at) message(0.85 * kMega, 118 * kMega, 0.003, false);
  EXPECT_LT(link.rate().bytes_per_second, 90 * kMega);
  EXPECT_NEAR(raw.rate(link.rate()), 118 * kMega, kMega);
  // A faster link is told by any message, a slower one by raw ones.
  for (int at = 0; at < 100; ++at) message(0.85 * kMega, 1000 * kMega, 0, false);
  EXPECT_GT(raw.rate(link.rate()), 900 * kMega);
  for (int at = 0; at < 100; ++at) message(4 * kMega, 50 * kMega, 0, true);
  EXPECT_NEAR(raw.rate(link.rate()), 50 * kMega, kMega);
}

TEST(LinkEstimate, KnowsNothingFromNothing) {
  LinkEstimate link;
  link.add({0, 1});
  link.add({0, 0});
  link.add({1000, 0.001});
  EXPECT_EQ(link.rate().bytes_per_second, 0);
  EXPECT_EQ(link.rate().source, RateSource::kUnknown);
}

TEST(LinkEstimate, SumsShortMessagesUp) {
  LinkEstimate link;
  send(link, 65536, 125 * kMega, 100);
  EXPECT_NEAR(link.rate().bytes_per_second, 125 * kMega, kMega);
}

TEST(LinkEstimate, TakesTicksOfTheClockTogether) {
  // 0.8 ms each, of which every fifth shows as a tick of 4 ms.
  LinkEstimate link;
  for (int at = 0; at < 200; ++at) link.add({kMega, at % 5 == 0 ? 0.004 : 0});
  EXPECT_NEAR(link.rate().bytes_per_second, 1250 * kMega, 130 * kMega);
}

TEST(LinkEstimate, BelievesAChangedLinkWithinTwentyMessages) {
  for (const auto& [before, after] :
       {std::pair{1250 * kMega, 125 * kMega}, std::pair{125 * kMega, 1250 * kMega},
        std::pair{125 * kMega, 12.5 * kMega}}) {
    LinkEstimate link;
    send(link, kMega, before, 300);
    EXPECT_NEAR(link.rate().bytes_per_second, before, before / 10);
    send(link, kMega, after, 20);
    if (after < before) {
      EXPECT_NEAR(link.rate().bytes_per_second, after, after / 10);
      continue;
    }
    // Messages of 0.8 ms are few ticks; a faster link is believed before it is known exactly.
    EXPECT_GT(link.rate().bytes_per_second, after / 3);
    send(link, kMega, after, 80);
    EXPECT_NEAR(link.rate().bytes_per_second, after, after / 10);
  }
}

TEST(LinkEstimate, BelievesAFasterLinkWhoseTimeShowsAsTicks) {
  for (int tick_at = 0; tick_at < 5; ++tick_at) {
    LinkEstimate link;
    send(link, kMega, 125 * kMega, 300);
    for (int at = 0; at < 20; ++at) link.add({kMega, at % 5 == tick_at ? 0.004 : 0});
    EXPECT_GT(link.rate().bytes_per_second, 400 * kMega);
    EXPECT_LT(link.rate().bytes_per_second, 2600 * kMega);
  }
}

TEST(LinkEstimate, IsNotMisledByTicksThatCameLate) {
  // Messages of 0.5 ms at the rate that is known, whose ticks come in bunches.
  LinkEstimate link;
  send(link, kMega, 125 * kMega, 300);
  for (int at = 0; at < 800; ++at) {
    link.add({62500, at % 32 >= 28 ? 0.004 : 0});
    EXPECT_LT(link.rate().bytes_per_second, 1.6 * 125 * kMega);
  }
}

TEST(LinkEstimate, IsNotMisledByAcknowledgementsThatComeLate) {
  // Messages of a few bytes, whose receiver holds its answer back until it has something to say.
  LinkEstimate link;
  send(link, kMega, 125 * kMega, 100);
  for (int at = 0; at < 500; ++at) {
    send(link, kMega, 125 * kMega, 1);
    if (at % 10 == 9) link.add({64, 0.04});
    EXPECT_NEAR(link.rate().bytes_per_second, 125 * kMega, 20 * kMega) << at;
  }
}

TEST(LinkEstimate, IsSeldomMisledByTicksThatFallAtRandom) {
  std::mt19937 random(1);
  for (const double milliseconds : {0.4, 0.8, 1.6}) {
    LinkEstimate link;
    send(link, kMega, 125 * kMega, 300);
    std::bernoulli_distribution tick(milliseconds / 4);
    int misled = 0;
    for (int at = 0; at < 50'000; ++at) {
      link.add({125e3 * milliseconds, tick(random) ? 0.004 : 0});
      misled += link.rate().bytes_per_second > 2 * 125 * kMega ? 1 : 0;
    }
    EXPECT_LT(misled, 2500) << milliseconds;
  }
}

TEST(LinkEstimate, AveragesNoise) {
  LinkEstimate link;
  for (int at = 0; at < 40; ++at) send(link, kMega, (at % 2 == 0 ? 100 : 130) * kMega, 5);
  EXPECT_NEAR(link.rate().bytes_per_second, 113 * kMega, 10 * kMega);
}

TEST(LinkEstimate, DoesNotDivideByNothing) {
  LinkEstimate link;
  send(link, 300 * kMega, 1e300, 2);
  EXPECT_GT(link.rate().bytes_per_second, 1e9);
  EXPECT_LT(link.rate().bytes_per_second, 1e12);
}

TEST(ShareOf, DividesAmongANodesRanks) {
  EXPECT_EQ(share_of(128, 64), 2);
  EXPECT_EQ(share_of(128, 0), 128);
}

}  // namespace
}  // namespace thinwire::choose
