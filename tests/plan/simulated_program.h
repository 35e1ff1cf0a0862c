// A program that sends messages of one class, in rounds whose times are made up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "plan/message_class.h"

namespace thinwire::plan {

// What a round takes, by its number and whether it went compressed.
using Took = std::function<double(int, bool)>;

constexpr double kSimulatedRound = 1e7;  // nanoseconds

class SimulatedProgram {
 public:
  explicit SimulatedProgram(Took took) : took_(std::move(took)) {}

  void run(int rounds) {
    constexpr Foreseen kGain{3e-3, 1e-3, true};
    for (int round = 0; round < rounds; ++round) {
      const auto at = static_cast<std::uint64_t>(now_);
      const MessageTurn turn = of_.next(kGain, at, static_cast<std::uint64_t>(round));
      if (turn.is_coded) of_.made_frame();
      ways_ += turn.is_coded ? 'c' : 'r';
      now_ += kSimulatedRound * took_(round, turn.is_coded);
    }
  }

  // By what it would have taken had all gone the same way.
  double part_of(bool is_coded) const {
    double all = 0;
    for (int round = 0; round < static_cast<int>(ways_.size()); ++round)
      all += took_(round, is_coded);
    return (now_ - kBegins) / (kSimulatedRound * all);
  }
  double part_of_better() const { return std::max(part_of(false), part_of(true)); }

  // One letter a round: r raw, c compressed.
  const std::string& ways() const { return ways_; }
  MessageClass& of() { return of_; }

 private:
  // The clock has run for long.
  static constexpr double kBegins = 1e15;

  Took took_;
  MessageClass of_{false};
  std::string ways_;
  double now_ = kBegins;
};

}  // namespace thinwire::plan
