// Messages of random programs of 300 steps that keep up to 16 of them in flight: phases in which
// raw and compressed messages take whatever they may, times that become shorter again and again,
// drift, and chance. In some of them compressed messages never gain.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "simulated_program.h"

namespace thinwire::choose {
namespace {

constexpr int kSteps = 300;

class Chance {
 public:
  explicit Chance(unsigned seed) : random_(seed) {}
  double between(double least, double most) {
    const double part = static_cast<double>(random_() - std::mt19937::min()) /
                        static_cast<double>(std::mt19937::max() - std::mt19937::min());
    return least + part * (most - least);
  }
  // Between them by the logarithm.
  double factor(double least, double most) {
    return std::exp(between(std::log(least), std::log(most)));
  }
  int count(int least, int most) {
    return static_cast<int>(std::floor(std::min(between(least, most + 1.0), most + 0.5)));
  }
  bool is(double part) { return between(0, 1) < part; }
  // Nearly normal.
  double spread(double by) {
    double sum = 0;
    for (int each = 0; each < 12; ++each) sum += between(0, 1);
    return std::exp((sum - 6) * by);
  }

 private:
  std::mt19937 random_;
};

struct Phase {
  double raw, coded;
  int steps;
};

struct Program {
  int lag = 0;
  std::vector<double> raw, coded;  // by steps
};

std::vector<Phase> random_phases(Chance& chance) {
  std::vector<Phase> phases(static_cast<std::size_t>(chance.count(1, 4)));
  const double kind = chance.between(0, 1);
  for (Phase& phase : phases) {
    phase.raw = chance.factor(0.1, 10);
    const double least = kind >= 0.25 && kind < 0.6 ? 1.0 : 0.15;
    phase.coded = phase.raw * chance.factor(least, kind < 0.25 ? 0.9 : 6.0);
    phase.steps = static_cast<int>(chance.factor(1, 120));
  }
  return phases;
}

Program random_program(unsigned seed, int least_lag) {
  Chance chance(seed);
  Program program;
  program.lag = chance.count(least_lag, 15);
  const double spread = chance.is(0.4) ? 0 : chance.factor(0.02, 0.4);
  const auto phases = random_phases(chance);
  const double drift = chance.is(0.2) ? chance.factor(0.3, 3) : 1;  // in a hundred steps
  const int saw = chance.is(0.2) ? chance.count(3, 60) : 0, teeth = chance.count(2, 6);
  const double shorter = chance.factor(1.5, 6);
  std::size_t phase = 0;
  int left = phases[0].steps;
  for (int step = 0; step < kSteps; ++step) {
    if (left-- == 0) {
      phase = (phase + 1) % phases.size();
      left = phases[phase].steps - 1;
    }
    double factor = chance.spread(spread) * std::pow(drift, step / 100.0);
    if (saw > 0) factor *= std::pow(shorter, -(step / saw % teeth));
    program.raw.push_back(phases[phase].raw * factor);
    program.coded.push_back(phases[phase].coded * factor);
  }
  return program;
}

struct Outcome {
  int losers = 0, lost_much = 0;
  double lost = 0;            // the sum of what they took by the raw time
  double gain = 0, most = 0;  // parts of the raw time that were gained, and could have been
};

Outcome run_programs(int programs, int least_lag) {
  Outcome outcome;
  for (int seed = 0; seed < programs; ++seed) {
    const Program of = random_program(static_cast<unsigned>(seed), least_lag);
    SimulatedProgram program(
        [&of](int step, bool coded) {
          return (coded ? of.coded : of.raw)[static_cast<std::size_t>(step)];
        },
        of.lag);
    program.run(kSteps);
    const double took = program.part_of(false), all_coded = took / program.part_of(true);
    if (took > 1.3) ++outcome.lost_much;
    if (all_coded >= 0.95) {
      ++outcome.losers;
      outcome.lost += took;
    } else {
      outcome.gain += std::max(0.0, 1 - took);
      outcome.most += 1 - all_coded;
    }
  }
  return outcome;
}

// Before glances (choose/glance.h) 1.24, and one of seven took more than 1.3 of the raw time.
TEST(MessageRandom, ProgramsOfManyMessagesInFlightLoseLittle) {
  constexpr int kPrograms = 2000;
  const Outcome outcome = run_programs(kPrograms, 3);
  EXPECT_LT(outcome.lost / outcome.losers, 1.15);
  EXPECT_LT(outcome.lost_much, kPrograms / 15);
  EXPECT_GT(outcome.gain, 0.55 * outcome.most);
}

// A message in eight tells that compressed ones take several times as long.
TEST(MessageRandom, MessagesInFlightAreNotAllCompressedToSeeThatTheyAreSlower) {
  for (const double coded_takes : {2.0, 3.0, 6.0}) {
    for (const int lag : {3, 7, 15}) {
      SimulatedProgram program([&](int, bool coded) { return coded ? coded_takes : 1; }, lag);
      program.run(kSteps);
      EXPECT_LT(program.part_of(false), coded_takes < 6 ? 1.06 : 1.12) << coded_takes << " " << lag;
    }
  }
}

}  // namespace
}  // namespace thinwire::choose
