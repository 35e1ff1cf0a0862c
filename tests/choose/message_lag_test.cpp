// Messages of programs that keep several of them in flight.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "choose/message_kind.h"
#include "simulated_program.h"

namespace thinwire::choose {
namespace {

std::vector<double> by_chance(int steps, double spread) {
  std::mt19937 random(1);
  std::normal_distribution<double> chance(0, spread);
  std::vector<double> factors(static_cast<std::size_t>(steps));
  for (double& each : factors) each = std::exp(chance(random));
  return factors;
}

// A program that waits for the oldest of several messages before it sends the next.
TEST(MessageLag, WindowsFindWhatIsFaster) {
  constexpr int kSteps = 4000;
  const auto factors = by_chance(kSteps, 0.05);
  for (const double coded_takes : {1.2, 0.43, 0.33}) {
    for (const int lag : {0, 1, 2, 3, 5, 7, 8, 15, 31}) {
      SimulatedProgram program(
          [&](int step, bool coded) {
            return factors[static_cast<std::size_t>(step)] * (coded ? coded_takes : 1);
          },
          lag);
      program.run(kSteps);
      EXPECT_LT(program.part_of_better(), coded_takes > 1 ? 1.02
                                          : lag < 16      ? 1.06
                                                          : 1.11)
          << coded_takes << " " << lag;
    }
  }
}

TEST(MessageLag, ShortProgramsOfEightMessagesInFlightLoseLittle) {
  const auto factors = by_chance(1000, 0.05);
  for (const double coded_takes : {1.1, 1.2, 1.5, 2.0}) {
    SimulatedProgram program(
        [&](int step, bool coded) {
          return factors[static_cast<std::size_t>(step)] * (coded ? coded_takes : 1);
        },
        7);
    program.run(1000);
    EXPECT_LT(program.part_of(false), coded_takes < 1.5 ? 1.02 : 1.04) << coded_takes;
  }
}

// As threads take turns by chance, a message is waited for now sooner and now later.
TEST(MessageLag, ThreadsFindWhatIsFaster) {
  std::mt19937 random(1);
  for (const double coded_takes : {1.2, 0.43}) {
    MessageKind of(false);
    std::string ways;
    double now = 1e15, all = 0;
    int watched = 0;
    for (int step = 0; step < 4000; ++step) {
      const int lag = std::uniform_int_distribution<int>(5, 8)(random);
      const MessageTurn turn = of.next({3e-3, 1e-3, true}, static_cast<std::uint64_t>(now),
                                       static_cast<std::uint64_t>(step));
      if (turn.is_coded) of.made_frame();
      ways += turn.is_coded ? 'c' : 'r';
      if (of.wants_watch()) {
        of.watch();
        watched = step;
      }
      if (of.is_watched() && step >= watched + lag) {
        of.note_complete();
        of.end_watch(0);
      }
      const bool coded = ways[static_cast<std::size_t>(std::max(0, step - lag))] == 'c';
      now += coded ? coded_takes * 1e7 : 1e7;
      all += std::min(coded_takes, 1.0) * 1e7;
    }
    EXPECT_LT((now - 1e15) / all, coded_takes > 1 ? 1.02 : 1.06);
  }
}

// Timing rounds begin after it is known how many messages are in flight.
TEST(MessageLag, NothingIsTriedBeforeAMessageIsComplete) {
  MessageKind of(false);
  std::uint64_t step = 0;
  const auto next = [&] {
    const MessageTurn turn = of.next({3e-3, 1e-3, true}, step * 1'000'000, step);
    ++step;
    return turn;
  };
  next();
  ASSERT_TRUE(of.wants_watch());
  of.watch();
  for (int each = 0; each < 30; ++each) EXPECT_FALSE(next().is_in_round);
  of.note_complete();
  of.end_watch(0);
  int round = 0;
  for (int each = 0; each < 4; ++each) round += next().is_in_round ? 1 : 0;
  EXPECT_GT(round, 0);
}

// The program let go of it, or waits for it in a call that is not seen.
TEST(MessageLag, AMessageThatIsNeverSeenToCompleteIsTakenForOneOfMany) {
  MessageKind of(false);
  int rounds = 0;
  for (std::uint64_t step = 0; step < 80; ++step) {
    rounds += of.next({3e-3, 1e-3, true}, step * 1'000'000, step).is_in_round ? 1 : 0;
    if (step == 0) of.watch();
    EXPECT_EQ(of.is_watched(), step < 65);
  }
  EXPECT_GT(rounds, 0);
}

TEST(MessageLag, LagIsThePowerOfTwoAboveWhatWasSeen) {
  Lag lag;
  EXPECT_FALSE(lag.is_known());
  lag.watch(10);
  lag.complete(17);
  EXPECT_FALSE(lag.is_known());
  lag.end(0, 17);
  EXPECT_TRUE(lag.is_known());
  EXPECT_EQ(lag.steps(), 8);
  EXPECT_FALSE(lag.wants_watch(21));
  EXPECT_TRUE(lag.wants_watch(22));
  for (std::uint64_t at = 30; at < 300; at += 10) {
    lag.watch(at);
    lag.complete(at);
    lag.end(0, at);
  }
  EXPECT_EQ(lag.steps(), 0);
  lag.watch(300);
  lag.lose(301);
  EXPECT_EQ(lag.steps(), 64);
}

// A message is complete for its sender as the system has it, and the next waits for it there.
TEST(MessageLag, MessagesInTheSystemsBuffersAreInFlight) {
  const auto steps_of = [](std::uint64_t seen, double under_way) {
    Lag lag;
    lag.watch(0);
    lag.complete(seen);
    lag.end(under_way, seen);
    return lag.steps();
  };
  EXPECT_EQ(steps_of(0, 0), 0);
  EXPECT_EQ(steps_of(0, 0.2), 0);
  EXPECT_EQ(steps_of(0, 0.9), 1);
  EXPECT_EQ(steps_of(0, 3), 4);
  EXPECT_EQ(steps_of(7, 0.9), 8);
  EXPECT_EQ(steps_of(7, 4), 8);
  EXPECT_EQ(steps_of(0, 1e9), 64);
}

// Somebody's word for a rate begins it: raw messages were never timed, so no glance stands in for
// that.
TEST(MessageLag, WhatIsCompressedUntimedIsTimed) {
  MessageKind of(true);
  int watched = 0;
  double now = 1e15;
  std::string ways;
  for (int step = 0; step < 120; ++step) {
    ways += of.next({3e-3, 1e-3, true}, static_cast<std::uint64_t>(now),
                    static_cast<std::uint64_t>(step))
                    .is_coded
                ? 'c'
                : 'r';
    if (ways.back() == 'c') of.made_frame();
    if (of.wants_watch()) {
      of.watch();
      watched = step;
    }
    if (of.is_watched() && step >= watched + 3) {
      of.note_complete();
      of.end_watch(0);
    }
    now += ways[static_cast<std::size_t>(std::max(0, step - 3))] == 'c' ? 4e6 : 1e7;
  }
  EXPECT_TRUE(of.is_timed());
  EXPECT_TRUE(of.codes());
}

// Timing of a kind of one peer begins with what is known of the messages to all.
TEST(MessageLag, APeersOwnKnowsHowManyAreInFlight) {
  MessageKind all(false);
  for (std::uint64_t step = 0; step < 8; ++step) {
    all.next({}, step * 1'000'000, step);
    if (step == 0) all.watch();
  }
  all.note_complete();
  all.end_watch(0);
  MessageKind own(all, 4);
  EXPECT_FALSE(own.is_watched());
  int rounds = 0;
  for (std::uint64_t step = 0; step < 20; ++step) {
    rounds += own.next({3e-3, 1e-3, true}, step * 1'000'000, step).is_in_round ? 1 : 0;
  }
  EXPECT_GT(rounds, 8);
}

}  // namespace
}  // namespace thinwire::choose
