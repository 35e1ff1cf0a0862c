// Messages whose price is in another step than their own, without that anybody sees them in flight;
// and moments that are slow by chance.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "choose/paid_later.h"
#include "simulated_program.h"

namespace thinwire::choose {
namespace {

constexpr int kSteps = 200;

// The time of a step, by its number and by whether it and the step before it went compressed.
using TookAfter = std::function<double(int, bool, bool)>;

// The time of a program by that of raw steps. Its sends are complete at once.
double part_of_raw(bool is_stated, const TookAfter& took) {
  MessageKind of(is_stated);
  double now = 1e15, raw = 0;
  bool was_coded = false;
  for (int step = 0; step < kSteps; ++step) {
    const auto at = static_cast<std::uint64_t>(now);
    const bool is_coded =
        next_of(of, {10e-3, 5e-3, true}, at, static_cast<std::uint64_t>(step)).is_coded;
    if (is_coded) of.made_frame();
    now += kSimulatedStep * took(step, is_coded, was_coded);
    raw += kSimulatedStep * took(step, false, false);
    was_coded = is_coded;
  }
  return (now - 1e15) / raw;
}

// The mean of many programs that send a message and wait for what comes of the one before it.
double part_of_pipeline(bool is_stated, double coded_takes, double spread) {
  constexpr unsigned kPrograms = 100;
  double sum = 0;
  for (unsigned seed = 1; seed <= kPrograms; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> chance(0, spread);
    std::array<double, kSteps> factors{};
    for (double& each : factors) each = std::exp(chance(random));
    sum += part_of_raw(is_stated, [&](int step, bool, bool was_coded) {
      return factors[static_cast<std::size_t>(step)] * (was_coded ? coded_takes : 1);
    });
  }
  return sum / kPrograms;
}

// Before it was noticed, messages that took nine times as long stayed compressed (4.5 of the raw
// time), and those that gain half stayed raw.
TEST(MessagePaidLater, APipelineIsNotMistaken) {
  for (const double spread : {0.02, 0.2}) {
    EXPECT_LT(part_of_pipeline(false, 9, spread), 1.4) << spread;
    EXPECT_LT(part_of_pipeline(false, 3, spread), 1.15) << spread;
    EXPECT_LT(part_of_pipeline(false, 1.3, spread), 1.1) << spread;
    EXPECT_LT(part_of_pipeline(false, 0.45, spread), 0.65) << spread;
    EXPECT_LT(part_of_pipeline(true, 9, spread), 2.2) << spread;
    EXPECT_LT(part_of_pipeline(true, 0.45, spread), 0.65) << spread;
  }
}

// A step of one message that was sent again, where one raw step said that compressed ones are
// faster: all went on at nine times the price.
TEST(MessagePaidLater, OneSlowRawStepDoesNotDecide) {
  for (int slow = 16; slow < 24; ++slow) {
    const double part = part_of_raw(true, [slow](int step, bool coded, bool) {
      return (coded ? 9 : 1) + (step == slow ? 40 : 0);
    });
    EXPECT_LT(part, 1.8) << slow;
  }
}

// Steps that follow each other as in timing rounds: raw, compressed, compressed, raw.
TEST(PaidLater, StepsThatPayForThemselvesAreNotTaken) {
  std::mt19937 random(1);
  for (const double spread : {0.05, 0.3, 0.7}) {
    std::normal_distribution<double> chance(0, spread);
    int found = 0;
    constexpr int kPrograms = 500;
    for (int program = 0; program < kPrograms; ++program) {
      PaidLater of;
      bool was_coded = false;
      for (const char way : std::string("rccrcrrcrccr")) {
        const bool is_coded = way == 'c';
        of.add(1e7 * (is_coded ? 2 : 1) * std::exp(chance(random)), is_coded, was_coded);
        was_coded = is_coded;
      }
      found += of.find(false) ? 1 : 0;
    }
    EXPECT_LT(found, kPrograms / 50) << spread;
  }
}

TEST(PaidLater, TwoRoundsTell) {
  PaidLater of;
  bool was_coded = false;
  for (const char* const round : {"rccr", "rccr"}) {
    EXPECT_FALSE(of.find(false));
    for (const char* way = round; *way != 0; ++way) {
      const bool is_coded = *way == 'c';
      of.add(was_coded ? 3e7 : 1e7, is_coded, was_coded);
      was_coded = is_coded;
    }
    was_coded = false;
  }
  EXPECT_TRUE(of.find(false));
  of.forget();
  EXPECT_TRUE(of.is_found());
}

}  // namespace
}  // namespace thinwire::choose
