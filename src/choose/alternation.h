// Whether steps of a program take long and short by turns, as those of two ranks that send each
// other at once do over a slow TCP link: what lets one message go waits in the queue after all of
// another, so that each second step pays for the one before it. Of such a program two steps in the
// mean count as one, and are timed as if it kept messages in flight (choose/lag.h), or a step's
// time would tell of the way that the step before it went.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace thinwire::choose {

class Alternation {
 public:
  // Steps one after another that went the same way, the last one included; else end() comes
  // between them.
  void add(double nanoseconds) {
    std::shift_right(logs_.begin(), logs_.end(), 1);
    logs_.front() = std::log(std::max(nanoseconds, 1.0));
    number_ = std::min(number_ + 1, kSteps);
    if (number_ >= kFewest) note(by_turns(number_ & ~std::size_t{1}));
  }
  void end() { number_ = 0; }

  bool is_on() const { return is_on_; }

  // Whether the steps so far are too few to tell, and the last two differ.
  bool may_begin() const {
    return !is_on_ && number_ >= 2 && number_ < kSteps && std::abs(logs_[0] - logs_[1]) >= kApart;
  }

 private:
  // Steps that tell, and the least of them.
  static constexpr std::size_t kSteps = 8, kFewest = 6;
  // The logarithms of each second step and of the others differ by so much in the mean, and by so
  // many standard deviations; steps are believed to differ by so much by chance. So many others in
  // a row end it.
  static constexpr double kApart = 0.33, kDeviations = 7, kUsualSquares = 0.02;
  static constexpr std::uint32_t kEnds = 16;

  // Asked of an even number of steps.
  bool by_turns(std::size_t steps) const {
    std::array<double, 2> sums{};
    double squares = 0;
    for (std::size_t at = 0; at < steps; ++at) {
      sums[at % 2] += logs_[at];
      squares += logs_[at] * logs_[at];
    }
    const auto number = static_cast<double>(steps);
    const double apart = (sums[0] - sums[1]) * 2 / number;
    const double rest = squares - (sums[0] * sums[0] + sums[1] * sums[1]) * 2 / number;
    const double variance = (std::max(rest, 0.0) + kUsualSquares) * 4 / (number * number);
    return std::abs(apart) >= kApart && apart * apart >= kDeviations * kDeviations * variance;
  }

  void note(bool turns) {
    others_ = turns ? 0 : others_ + 1;
    if (turns) is_on_ = true;
    if (others_ >= kEnds) is_on_ = false;
  }

  std::array<double, kSteps> logs_{};  // of steps' nanoseconds, the newest first
  std::size_t number_ = 0;
  bool is_on_ = false;
  std::uint32_t others_ = 0;  // in a row
};

}  // namespace thinwire::choose
