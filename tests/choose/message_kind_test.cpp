// Whether messages of a kind are compressed, from what passed between them both ways.
#include "choose/message_kind.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "simulated_program.h"

namespace thinwire::choose {
namespace {

constexpr Foreseen kGains{1e-3, 0.5e-3, true}, kLoses{1e-3, 10e-3, false};
constexpr std::uint64_t kMillisecond = 1'000'000;

// A program that sends one message after another, and how they went: r raw, c compressed, in
// capitals in a timing round.
class Stream {
 public:
  explicit Stream(bool begins_coded = false) : of_(begins_coded) {}

  std::string send(int messages, std::uint64_t raw, std::uint64_t coded,
                   const Foreseen& foreseen = kGains) {
    std::string ways;
    for (int message = 0; message < messages; ++message) {
      const MessageTurn turn = next_of(of_, foreseen, now_, ++waits_);
      const char way = turn.is_coded ? 'c' : 'r';
      ways += turn.is_in_round ? static_cast<char>(way - 'a' + 'A') : way;
      if (turn.is_coded) of_.made_frame();
      now_ += turn.is_coded ? coded : raw;
    }
    return ways;
  }

  MessageKind& of() { return of_; }

 private:
  MessageKind of_;
  std::uint64_t now_ = 1, waits_ = 0;
};

auto coded_in(const std::string& ways) {
  return std::ranges::count_if(ways, [](char way) { return way == 'c' || way == 'C'; });
}

TEST(MessageKind, TimesBothWaysAndStaysWithTheFasterOne) {
  Stream gains, loses;
  EXPECT_EQ(gains.send(10, 37 * kMillisecond, 14 * kMillisecond), "rrCCRccccc");
  EXPECT_EQ(loses.send(24, 4 * kMillisecond, 5 * kMillisecond), "rrCCRrrrrrrrrrrrRCCRrrrr");
  EXPECT_TRUE(gains.of().codes());
  EXPECT_FALSE(loses.of().codes());
  EXPECT_DOUBLE_EQ(gains.of().saving(), 23 * kMillisecond);
}

// Whatever a rate foresees.
TEST(MessageKind, RoundsCostLittle) {
  for (const auto [raw, coded] :
       {std::array{4, 5}, {4, 6}, {1, 12}, {37, 14}, {14, 10}, {20, 19}}) {
    Stream stream;
    constexpr int kMessages = 20000;
    const std::string ways = stream.send(kMessages, static_cast<std::uint64_t>(raw) * kMillisecond,
                                         static_cast<std::uint64_t>(coded) * kMillisecond);
    const auto messages_coded = static_cast<double>(coded_in(ways));
    const double took = messages_coded * coded + (kMessages - messages_coded) * raw;
    EXPECT_LT(took, 1.02 * kMessages * std::min(raw, coded)) << raw << " " << coded;
  }
}

TEST(MessageKind, NothingIsTriedWhatIsForeseenToLose) {
  Stream stream;
  EXPECT_EQ(coded_in(stream.send(1000, kMillisecond, kMillisecond / 2, kLoses)), 0);
  EXPECT_GT(coded_in(stream.send(100, kMillisecond, kMillisecond / 4, kGains)), 85);
}

// Somebody's word for a rate holds until it was tried.
TEST(MessageKind, AStatedRateBeginsAtOnceAndIsCorrected) {
  Stream right(true), wrong(true);
  EXPECT_EQ(right.send(26, 37 * kMillisecond, 14 * kMillisecond), "ccccccccccccccccRCCRcccccc");
  EXPECT_EQ(wrong.send(26, 4 * kMillisecond, 5 * kMillisecond), "ccccccccccccccccRCCRrrrrrr");
}

// Times that differ by chance, as on a busy machine: the mean of many programs' times, by what the
// faster way would have taken alone.
double lost_by_chance(double raw, double coded, int messages) {
  constexpr unsigned kPrograms = 200;
  double took = 0;
  for (unsigned seed = 1; seed <= kPrograms; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> chance(0, 0.7);
    MessageKind of(false);
    double now = 1;
    for (int message = 0; message < messages; ++message) {
      const auto at = static_cast<std::uint64_t>(now);
      const bool is_coded = next_of(of, kGains, at, static_cast<std::uint64_t>(message)).is_coded;
      if (is_coded) of.made_frame();
      const double mean = is_coded ? coded : raw;
      took += mean;
      now += 1e6 * mean * std::exp(chance(random));
    }
  }
  return took / (kPrograms * messages * std::min(raw, coded));
}

TEST(MessageKind, ChanceDecidesLittle) {
  EXPECT_LT(lost_by_chance(4, 5, 300), 1.04);
  EXPECT_LT(lost_by_chance(4, 5, 3000), 1.02);
  EXPECT_LT(lost_by_chance(4, 8, 300), 1.05);
  EXPECT_LT(lost_by_chance(4, 40, 3000), 1.03);
  EXPECT_LT(lost_by_chance(37, 14, 150), 1.35);
  EXPECT_LT(lost_by_chance(37, 14, 3000), 1.04);
}

// Messages that a program starts together, before it waits for all of them.
TEST(MessageKind, MessagesSentTogetherAreTimedTogether) {
  for (const int together : {2, 3, 5, 8, 16, 50}) {
    MessageKind of(false);
    std::uint64_t now = 1, on_link = 0, waits = 0;
    int coded = 0;
    constexpr int kMessages = 2000;
    for (int message = 0; message < kMessages; ++message) {
      const bool is_coded = next_of(of, kGains, now, waits).is_coded;
      if (is_coded) of.made_frame();
      coded += is_coded ? 1 : 0;
      on_link += (is_coded ? 6 : 30) * kMillisecond;
      now += is_coded ? 4 * kMillisecond : 10'000;  // encoding
      if (message % together != together - 1) continue;
      now += std::exchange(on_link, 0);
      ++waits;
    }
    EXPECT_GT(coded, kMessages * 7 / 10) << together;
  }
}

TEST(MessageKind, AnotherLinkIsTriedAnew) {
  Stream stream;
  stream.send(100, 4 * kMillisecond, 5 * kMillisecond);
  EXPECT_FALSE(stream.of().codes());
  constexpr Foreseen kSlower{10e-3, 1e-3, true};
  stream.send(64, 40 * kMillisecond, 5 * kMillisecond, kSlower);
  EXPECT_TRUE(stream.of().codes());
  stream.send(64, 4 * kMillisecond, 5 * kMillisecond, kGains);
  EXPECT_FALSE(stream.of().codes());
}

// Two ranks that send each other a message at once and wait for both: what one alone changes is
// not seen.
TEST(MessageKind, RanksThatExchangeComeToTheSame) {
  for (const unsigned late : {0U, 3U, 5U, 6U}) {
    std::array<MessageKind, 2> ranks{MessageKind(false), MessageKind(false)};
    std::uint64_t now = 1;
    int coded = 0;
    for (unsigned message = 0; message < 400; ++message) {
      const bool one = next_of(ranks[0], kGains, now, message).is_coded;
      const bool other = next_of(ranks[1], message < late ? kLoses : kGains, now, message).is_coded;
      if (one) ranks[0].made_frame();
      if (other) ranks[1].made_frame();
      coded += one && other ? 1 : 0;
      now += (one && other ? 5 : 14) * kMillisecond;
    }
    EXPECT_GT(coded, 360) << late;
  }
}

// Two ranks that send each other at once over a slow link, where each second step pays for three of
// four messages, so that a step's time tells of the way that the one before it went, and one rank
// alone sees a message under way: both go on to compress, as somebody's word for the rate has them
// begin.
TEST(MessageKind, StepsThatPayForThoseBeforeThemByTurnsAreNotMistaken) {
  constexpr std::uint64_t kRaw = 84, kCoded = 36;
  for (const unsigned phase : {0U, 1U}) {
    std::array<MessageKind, 2> ranks{MessageKind(true), MessageKind(true)};
    std::array<std::uint64_t, 2> costs{}, before{};
    std::uint64_t now = 1;
    int coded = 0;
    for (unsigned step = 0; step < 100; ++step) {
      for (const unsigned rank : {0U, 1U}) {
        const bool is_coded = next_of(ranks[rank], kGains, now, step, rank).is_coded;
        if (is_coded) ranks[rank].made_frame();
        coded += is_coded ? 1 : 0;
        before[rank] = std::exchange(costs[rank], is_coded ? kCoded : kRaw);
      }
      now += (step % 2 == phase ? costs[0] : before[1] + costs[0] + costs[1]) * kMillisecond;
    }
    EXPECT_GT(coded, 160) << phase;
  }
}

// Half of the messages do not shrink, and are no reason to doubt what the others save.
TEST(MessageKind, WhatDoesNotShrinkIsNotInTheTimes) {
  MessageKind of(false);
  std::uint64_t now = 1;
  for (int message = 0; message < 200; ++message) {
    const MessageTurn turn = next_of(of, kGains, now, static_cast<std::uint64_t>(message));
    const bool is_frame = turn.is_coded && message % 2 == 0;
    if (is_frame) of.made_frame();
    now += (is_frame ? 10 : 30) * kMillisecond;
  }
  EXPECT_TRUE(of.codes());
  EXPECT_LE(of.rounds(), 5);
  EXPECT_NEAR(of.saving(), 20 * kMillisecond, 2 * kMillisecond);
}

TEST(MessageKind, WhatNeverShrinksStaysRaw) {
  MessageKind of(false);
  int coded = 0;
  for (std::uint64_t message = 0; message < 4000; ++message) {
    coded += next_of(of, kGains, message * kMillisecond, message).is_coded ? 1 : 0;
  }
  EXPECT_FALSE(of.codes());
  EXPECT_LT(coded, 200);
}

TEST(MessageKind, APeersOwnGoesOn) {
  Stream all;
  all.send(8, 37 * kMillisecond, 14 * kMillisecond);
  MessageKind alone(all.of(), 8), one_of_many(all.of(), 4);
  EXPECT_TRUE(alone.codes());
  EXPECT_EQ(alone.rounds(), 1);
  EXPECT_TRUE(one_of_many.codes());
  EXPECT_FALSE(one_of_many.is_timed());
}

}  // namespace
}  // namespace thinwire::choose
