// A program that sends messages of one kind, in steps whose times are made up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "choose/message_kind.h"

namespace thinwire::choose {

// The next message of a program that waits for each in the step in which it is sent. `under_way`:
// so many are in the system's buffers then.
inline MessageTurn next_of(MessageKind& of, const Foreseen& foreseen, std::uint64_t nanoseconds,
                           std::uint64_t waits, double under_way = 0) {
  const MessageTurn turn = of.next(foreseen, nanoseconds, waits);
  if (of.wants_watch()) {
    of.watch();
    of.note_complete();
    of.end_watch(under_way);
  }
  return turn;
}

// The time that a step takes, by its number and whether it went compressed.
using Took = std::function<double(int, bool)>;

constexpr double kSimulatedStep = 1e7;  // nanoseconds

class SimulatedProgram {
 public:
  // The message of each step is waited for so many steps later: what it takes is in that one.
  explicit SimulatedProgram(Took took, int lag = 0) : took_(std::move(took)), lag_(lag) {}

  void run(int steps) {
    constexpr Foreseen kGain{3e-3, 1e-3, true};
    for (int step = 0; step < steps; ++step) {
      const auto at = static_cast<std::uint64_t>(now_);
      const MessageTurn turn = of_.next(kGain, at, static_cast<std::uint64_t>(step));
      if (turn.is_coded) of_.made_frame();
      ways_ += turn.is_coded ? 'c' : 'r';
      if (of_.wants_watch()) {
        of_.watch();
        watched_ = step;
      }
      if (of_.is_watched() && step >= watched_ + lag_) {
        of_.note_complete();
        of_.end_watch(0);
      }
      const bool is_coded = step >= lag_ && ways_[static_cast<std::size_t>(step - lag_)] == 'c';
      now_ += kSimulatedStep * took_(step, is_coded);
    }
  }

  // By what it would have taken had all gone the same way.
  double part_of(bool is_coded) const {
    double all = 0;
    for (int step = 0; step < static_cast<int>(ways_.size()); ++step) all += took_(step, is_coded);
    return (now_ - kBegins) / (kSimulatedStep * all);
  }
  double part_of_better() const { return std::max(part_of(false), part_of(true)); }

  // One letter a step: r raw, c compressed.
  const std::string& ways() const { return ways_; }
  MessageKind& of() { return of_; }

 private:
  // The clock has run for long.
  static constexpr double kBegins = 1e15;

  Took took_;
  int lag_;
  int watched_ = 0;  // step of that message
  MessageKind of_{false};
  std::string ways_;
  double now_ = kBegins;
};

}  // namespace thinwire::choose
