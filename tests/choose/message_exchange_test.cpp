// Messages that two ranks send each other at once over a slow link, in steps that take long and
// short by turns.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "choose/alternation.h"
#include "simulated_program.h"

namespace thinwire::choose {
namespace {

constexpr double kRawMilliseconds = 10;

struct Exchange {
  double coded = 4.5;       // milliseconds of a message; a raw one takes kRawMilliseconds
  double spread = 0.02;     // of the logarithms
  bool is_stated = false;   // the link's rate
  bool only_first = false;  // the data of the second rank do not shrink
  int steps = 200;
  int never_timed = 0;  // 'r' or 'c': all messages go so

  // Each second step a rank waits for the other's message alone, and in the next for both of its
  // own and another one. So it was measured of a link of 1 Gbit/s.
  double run(unsigned seed) const {
    std::mt19937 random(seed);
    std::normal_distribution<double> chance(0, spread);
    std::array<MessageKind, 2> ranks{MessageKind(is_stated), MessageKind(is_stated)};
    const std::array<unsigned long, 2> late{3 + random() % 8, 3 + random() % 8};
    const unsigned long first_long = random() % 2;
    std::array<double, 2> now{1e15, 1e15}, before{}, message{};
    std::array<Came, 2> came{};
    for (unsigned step = 0; step < static_cast<unsigned>(steps); ++step) {
      for (const unsigned rank : {0U, 1U}) {
        const bool is_long = (step + rank + first_long) % 2 == 0;
        const bool is_known = is_stated || step >= late[rank];
        ranks[rank].note_came(came[rank]);
        const MessageTurn turn =
            next_of(ranks[rank], {10e-3, 5e-3, is_known}, static_cast<std::uint64_t>(now[rank]),
                    step, is_long ? 0.9 : 0);
        const bool is_coded = never_timed != 0 ? never_timed == 'c' : turn.is_coded;
        const bool is_frame = is_coded && !(only_first && rank == 1);
        if (is_frame) ranks[rank].made_frame();
        Came& at_other = came[1 - rank];
        ++(is_frame ? at_other.coded : at_other.raw);
        message[rank] = (is_frame ? coded : kRawMilliseconds) * std::exp(chance(random));
      }
      for (const unsigned rank : {0U, 1U}) {
        const bool is_long = step > 0 && (step + rank + first_long) % 2 == 0;
        now[rank] += 1e6 * (message[1 - rank] + (is_long ? message[rank] + before[rank] : 0));
      }
      before = message;
    }
    return now[0] + now[1] - 2e15;
  }

  // By the time of messages that all go `way`: the mean and the most of many programs.
  std::pair<double, double> part_of(int way) const {
    constexpr unsigned kPrograms = 100;
    Exchange other = *this;
    other.never_timed = way;
    double sum = 0, most = 0;
    for (unsigned seed = 1; seed <= kPrograms; ++seed) {
      const double part = run(seed) / other.run(seed);
      sum += part;
      most = std::max(most, part);
    }
    return {sum / kPrograms, most};
  }
};

// By steps as they are, they stayed raw for a third to two thirds of 200 steps.
TEST(MessageExchange, AGainIsFoundWithinThirtySteps) {
  for (const bool is_stated : {false, true}) {
    for (const double spread : {0.02, 0.1}) {
      const auto [mean, most] = Exchange{.spread = spread, .is_stated = is_stated}.part_of('c');
      EXPECT_LT(mean, 1.19) << is_stated << " " << spread;
      EXPECT_LT(most, spread < 0.1 ? 1.22 : 1.8) << is_stated << " " << spread;
    }
  }
  EXPECT_LT(Exchange{.only_first = true}.part_of('c').first, 1.07);
}

TEST(MessageExchange, AGainIsFoundOnABusyMachine) {
  EXPECT_LT(Exchange{.spread = 0.25}.part_of('c').first, 1.45);
}

TEST(MessageExchange, LossesAreFoundSoon) {
  for (const double spread : {0.02, 0.1}) {
    for (const auto [coded, part] : {std::array{13.0, 1.035}, {30.0, 1.06}, {90.0, 1.16}}) {
      const Exchange loses{.coded = coded, .spread = spread};
      EXPECT_LT(loses.part_of('r').first, part) << coded << " " << spread;
    }
  }
  EXPECT_LT((Exchange{.coded = 13, .steps = 2000}.part_of('r').first), 1.01);
  EXPECT_LT((Exchange{.coded = 30, .steps = 2000}.part_of('r').first), 1.035);
}

// Steps that end each other's rows by chance.
TEST(Alternation, ChanceIsNotTakenForTurns) {
  std::mt19937 random(1);
  for (const double spread : {0.1, 0.4, 0.7}) {
    std::normal_distribution<double> chance(0, spread);
    Alternation of;
    int on = 0;
    constexpr int kSteps = 20000;
    for (int step = 0; step < kSteps; ++step) {
      of.add(1e7 * std::exp(chance(random)));
      on += of.is_on() ? 1 : 0;
    }
    EXPECT_LT(on, kSteps / 20) << spread;
  }
}

TEST(Alternation, SixStepsTell) {
  Alternation of;
  for (int step = 0; step < 6; ++step) {
    EXPECT_FALSE(of.is_on());
    EXPECT_EQ(of.may_begin(), step >= 2) << step;
    of.add(step % 2 == 0 ? 12e6 : 28e6);
  }
  EXPECT_TRUE(of.is_on());
  EXPECT_FALSE(of.may_begin());
  for (int step = 0; step < 24; ++step) of.add(12e6);
  EXPECT_FALSE(of.is_on());
}

// Two long steps and two short ones, one long one of many, and steps that get longer.
TEST(Alternation, OtherRepetitionsAreNone) {
  Alternation stages, pauses, drift;
  for (int step = 0; step < 200; ++step) {
    stages.add(step % 4 < 2 ? 1e7 : 3e7);
    pauses.add(step % 9 == 0 ? 30e7 : 1e7);
    drift.add(1e7 * std::pow(1.3, step % 20));
    EXPECT_FALSE(stages.is_on() || pauses.is_on() || drift.is_on()) << step;
  }
}

}  // namespace
}  // namespace thinwire::choose
