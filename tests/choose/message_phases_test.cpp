// Messages of programs whose steps are not all alike: links that change, phases, periods.
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

// How many steps from `from` on come before the first of eight in a row of that way.
int until(const std::string& ways, int from, char way) {
  const std::size_t at = ways.find(std::string(8, way), static_cast<std::size_t>(from));
  return at == std::string::npos ? 1 << 20 : static_cast<int>(at) - from;
}

// After any number of steps: the link becomes 40 times slower and compressed messages faster.
TEST(MessagePhases, AChangedLinkIsFoundWithinTwentySteps) {
  int too_late = 0;
  for (int change = 33; change < 233; ++change) {
    SimulatedProgram program([change](int step, bool coded) {
      return step < change ? (coded ? 1.25 : 1) : (coded ? 32 : 40);
    });
    program.run(change + 40);
    too_late += until(program.ways(), change, 'c') > 20 ? 1 : 0;
  }
  EXPECT_LT(too_late, 20);
}

TEST(MessagePhases, ALinkThatIsFastAgainIsFoundSoon) {
  for (int change = 40; change < 60; ++change) {
    SimulatedProgram program([change](int step, bool coded) {
      return step < change || step >= change + 200 ? (coded ? 1.25 : 1) : (coded ? 25 : 40);
    });
    program.run(change + 280);
    EXPECT_LE(until(program.ways(), change + 200, 'r'), 64) << change;
  }
}

// On a machine whose other work makes steps take longer and shorter by a fifth: a timing round of
// four steps was often wrong, and the next came 32 steps later.
TEST(MessagePhases, ALinkThatIsFastAgainIsFoundOnABusyMachine) {
  constexpr int kPrograms = 200, kSlower = 40, kFaster = 80;
  int too_late = 0;
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> chance(0, 0.2);
    SimulatedProgram program([&](int step, bool coded) {
      const double computed = (coded ? 1.3 : 1) * std::exp(chance(random));
      return step < kSlower || step >= kFaster ? computed : computed + (coded ? 30 : 39);
    });
    program.run(kFaster + 120);
    too_late += until(program.ways(), kFaster, 'r') > 20 ? 1 : 0;
  }
  EXPECT_LE(too_late, kPrograms / 10);
}

// Steps at the start that end before anything is sent say nothing of later ones.
TEST(MessagePhases, OddFirstStepsAreForgotten) {
  for (int odd = 0; odd < 80; ++odd) {
    std::mt19937 random(1);
    std::normal_distribution<double> chance(0, 0.05);
    std::vector<double> by_chance(1000);
    for (double& each : by_chance) each = std::exp(chance(random));
    SimulatedProgram program([&](int step, bool coded) {
      if (step < odd) return coded ? 0.07 : 0.0008;
      return by_chance[static_cast<std::size_t>(step)] * (coded ? 0.43 : 1);
    });
    program.run(1000);
    EXPECT_LT(program.part_of(true), 1.15) << odd;
  }
}

// Eight of each 16 steps take longer, or each 64th much longer.
TEST(MessagePhases, PeriodsDoNotDecide) {
  for (const double coded_takes : {1.2, 0.33}) {
    for (int first = 0; first < 16; ++first) {
      SimulatedProgram halves([&](int step, bool coded) {
        return (coded ? coded_takes : 1) + ((step + first) % 16 < 8 ? 0.5 : 0);
      });
      SimulatedProgram pauses([&](int step, bool coded) {
        return (coded ? coded_takes : 1) + (step % 64 == first ? 50 : 0);
      });
      SimulatedProgram stages([&](int step, bool coded) {
        return (coded ? coded_takes : 1) + ((step + first) % 4 < 2 ? 0.5 : 0);
      });
      for (SimulatedProgram* const each : {&halves, &pauses, &stages}) {
        each->run(1000);
        EXPECT_LT(each->part_of_better(), coded_takes > 1 ? 1.02 : 1.06)
            << coded_takes << " " << first;
      }
    }
  }
}

// Phases that alternate, in which all takes ten times as long: compressed steps are slower in
// both.
TEST(MessagePhases, PhasesThatAlternateLoseLittle) {
  for (const double coded_takes : {1.1, 1.2, 1.5}) {
    for (const double slow : {3.0, 10.0}) {
      for (const int phase : {3, 5, 8, 10, 16, 20, 33, 50, 64, 100, 200, 300}) {
        double all = 0, worst = 0;
        int programs = 0;
        for (int first = 0; first < 2 * phase; first += std::max(1, phase / 8), ++programs) {
          SimulatedProgram program([&](int step, bool coded) {
            return ((step + first) / phase % 2 == 0 ? 1 : slow) * (coded ? coded_takes : 1);
          });
          program.run(1000);
          all += program.part_of(false);
          worst = std::max(worst, program.part_of(false));
        }
        EXPECT_LT(all / programs, 1.02) << coded_takes << " " << slow << " " << phase;
        EXPECT_LT(worst, 1.05) << coded_takes << " " << slow << " " << phase;
      }
    }
  }
}

// Four of each twelve steps gain half, the others lose more: a short timing round meets the four.
TEST(MessagePhases, GainsInSomeStepsDoNotHideLossesInOthers) {
  for (const double loss : {1.5, 2.0, 10.0}) {
    const auto took = [loss](int step, bool coded) {
      return !coded ? 1 : step / 4 % 3 == 0 ? 0.5 : loss;
    };
    SimulatedProgram some(took), many(took);
    some.run(3000);
    many.run(10000);
    EXPECT_LT(some.part_of(false), 1.12) << loss;
    EXPECT_LT(many.part_of(false), 1.04) << loss;
  }
}

// Each phase asks for a timing round, which ends as the next one begins.
TEST(MessagePhases, ShortPhasesAreNotFollowedTooLate) {
  for (const int phase : {8, 12, 16}) {
    SimulatedProgram program([phase](int step, bool coded) {
      return step / phase % 2 == 0 ? (coded ? 10 : 1) : (coded ? 1.5 : 2.2);
    });
    program.run(3000);
    EXPECT_LT(program.part_of(false), 1.15) << phase;
  }
}

// Whichever way is faster alternates with the phases.
TEST(MessagePhases, LongPhasesAreFollowed) {
  for (const int phase : {50, 100, 200}) {
    SimulatedProgram program([phase](int step, bool coded) {
      return step / phase % 2 == 0 ? (coded ? 1.5 : 1) : (coded ? 5 : 10);
    });
    program.run(2000);
    EXPECT_LT(program.part_of(false), 0.75) << phase;
  }
}

}  // namespace
}  // namespace thinwire::choose
