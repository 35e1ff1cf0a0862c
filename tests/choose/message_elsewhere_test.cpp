// Steps whose time tells of messages that went some steps before, or of those that came.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "choose/what_came.h"
#include "simulated_program.h"

namespace thinwire::choose {
namespace {

// The time of a program by that of raw steps. It waits for a message so many steps after it, and
// its sends are complete at once.
double part_of_late(int late, double coded_takes, bool is_stated, int steps) {
  MessageKind of(is_stated);
  double now = 1e15;
  std::vector<bool> ways;
  std::mt19937 random(1);
  std::normal_distribution<double> chance(0, 0.05);
  for (int step = 0; step < steps; ++step) {
    const auto at = static_cast<std::uint64_t>(now);
    const MessageTurn turn = next_of(of, {10e-3, 5e-3, true}, at, static_cast<std::uint64_t>(step));
    if (turn.is_coded) of.made_frame();
    ways.push_back(turn.is_coded);
    const bool is_coded = step >= late && ways[static_cast<std::size_t>(step - late)];
    now += kSimulatedStep * (is_coded ? coded_takes : 1) * std::exp(chance(random));
  }
  return (now - 1e15) / (kSimulatedStep * steps);
}

// Without looks, those of two steps before stayed compressed at eight times the price.
TEST(MessageElsewhere, LateMessagesAreNotMistaken) {
  for (const int late : {2, 3, 4, 5}) {
    for (const double coded : {1.3, 3.0, 9.0}) {
      EXPECT_LT(part_of_late(late, coded, false, 2000), 1.35) << late << " " << coded;
      EXPECT_LT(part_of_late(late, coded, true, 2000), 1.5) << late << " " << coded;
    }
  }
  EXPECT_LT(part_of_late(2, 0.4, false, 20000), 0.6);
}

// Each rank sends the next one a message, and waits for one of the rank before it.
struct Ring {
  std::size_t ranks = 5;
  double coded = 1;  // of a raw message
  bool is_stated = false;
  int steps = 1000;

  // By the time of raw messages.
  double part_of_raw(unsigned seed) const {
    std::mt19937 random(seed);
    std::normal_distribution<double> chance(0, 0.05);
    std::vector<MessageKind> kinds(ranks, MessageKind(is_stated));
    std::vector<Came> came(ranks);
    std::vector<double> now(ranks, 1e15), arrives(ranks);
    std::vector<int> knows(ranks);
    for (int& each : knows) each = is_stated ? 0 : 3 + static_cast<int>(random() % 8);
    for (int step = 0; step < steps; ++step) {
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        kinds[rank].note_came(came[rank]);
        const MessageTurn turn =
            next_of(kinds[rank], {10e-3, 5e-3, step >= knows[rank]},
                    static_cast<std::uint64_t>(now[rank]), static_cast<std::uint64_t>(step));
        if (turn.is_coded) kinds[rank].made_frame();
        const double took = (turn.is_coded ? coded : 1) * std::exp(chance(random));
        const std::size_t next = (rank + 1) % ranks;
        arrives[next] = now[rank] + kSimulatedStep * took;
        ++(turn.is_coded ? came[next].coded : came[next].raw);
      }
      for (std::size_t rank = 0; rank < ranks; ++rank)
        now[rank] = std::max(now[rank], arrives[rank]) + kSimulatedStep / 10;
    }
    return (*std::ranges::max_element(now) - 1e15) / (1.1 * kSimulatedStep * steps);
  }

  double mean_part_of_raw() const {
    constexpr unsigned kPrograms = 20;
    double sum = 0;
    for (unsigned seed = 1; seed <= kPrograms; ++seed) sum += part_of_raw(seed);
    return sum / kPrograms;
  }
};

// By their own messages alone, they took 1.3 of the raw time if compressed messages take three
// times as long.
TEST(MessageElsewhere, RanksOfARingLearnFromWhatComes) {
  EXPECT_LT((Ring{.coded = 0.45, .is_stated = true}.mean_part_of_raw()), 0.69);
  for (const bool is_stated : {false, true}) {
    EXPECT_LT((Ring{.coded = 1.3, .is_stated = is_stated}.mean_part_of_raw()), 1.05);
    EXPECT_LT((Ring{.coded = 3, .is_stated = is_stated}.mean_part_of_raw()), 1.15);
  }
}

// After a ring all that comes is raw, or in each second step messages of both ways come (`both`),
// or steps are short as the program computes less in those in which compressed messages come.
// Before, such programs stayed compressed at any price.
TEST(MessageElsewhere, WhatCameDoesNotHideWhatAStepCosts) {
  const auto part_of_raw = [](int steps, int ring_steps, double own, double slow,
                              bool both = false) {
    MessageKind of(false);
    Came came;
    double now = 1e15, raw = 0;
    for (int step = 0; step < steps; ++step) {
      of.note_came(came);
      const MessageTurn turn = next_of(of, {10e-3, 5e-3, true}, static_cast<std::uint64_t>(now),
                                       static_cast<std::uint64_t>(step));
      if (turn.is_coded) of.made_frame();
      const bool is_ring = step < ring_steps;
      const bool came_coded = is_ring ? turn.is_coded || step % 3 == 0 : slow > 1 && step % 2 == 0;
      ++(came_coded ? came.coded : came.raw);
      came.coded += both && !is_ring && step % 2 == 0 ? 1 : 0;
      const double usual = is_ring ? (came_coded ? 0.4 : 1) : came_coded ? 1 : slow;
      now += kSimulatedStep * usual * (turn.is_coded && !is_ring ? own : 1);
      raw += kSimulatedStep * usual;
    }
    return (now - 1e15) / raw;
  };
  for (const double own : {1.3, 3.0, 9.0}) {
    EXPECT_LT(part_of_raw(3000, 100, own, 1), 1.05) << own;
    EXPECT_LT(part_of_raw(3000, 100, own, 1, true), 1.05) << own;
    for (const double slow : {3.0, 20.0}) EXPECT_LT(part_of_raw(3000, 0, own, slow), 1.05) << own;
  }
}

}  // namespace
}  // namespace thinwire::choose
