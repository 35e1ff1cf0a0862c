// Whether a step's time tells of some other way, such as that of the step before it, more than of
// the way that its own messages went: from steps of all four kinds, of each way and of each other
// way.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace thinwire::choose {

class OtherWay {
 public:
  void add(double nanoseconds, bool is_coded, bool is_other_coded) {
    Logs& of_kind = kinds_[is_coded ? 1 : 0][is_other_coded ? 1 : 0];
    if (of_kind.number >= kMost) of_kind.fade();
    of_kind.add(std::log(std::max(nanoseconds, 1.0)));
  }
  void forget() { kinds_ = {}; }

  // How many kinds have so many steps.
  std::size_t kinds_with(double number) const {
    std::size_t kinds = 0;
    for (const auto& of_way : kinds_) {
      for (const Logs& each : of_way) kinds += each.number >= number ? 1 : 0;
    }
    return kinds;
  }

  // The other way makes a difference of `least` or more, by the logarithm, so many times as much as
  // the step's own way, and as many standard deviations.
  bool tells(double least) const {
    const auto& [raw, coded] = kinds_;
    Difference other, own;
    other.add(raw[1], raw[0]);
    other.add(coded[1], coded[0]);
    own.add(coded[0], raw[0]);
    own.add(coded[1], raw[1]);
    if (other.pairs <= 0 || own.pairs <= 0) return false;
    const double by_chance = kDeviations * std::sqrt(other.variance() * variance());
    return std::abs(other.mean()) >= std::max({least, kTimes * std::abs(own.mean()), by_chance});
  }

  // By how much longer steps take that are compressed themselves, by the logarithm.
  double own_cost() const {
    Difference own;
    own.add(kinds_[1][0], kinds_[0][0]);
    own.add(kinds_[1][1], kinds_[0][1]);
    return own.mean();
  }

 private:
  static constexpr double kTimes = 2, kDeviations = 3.5;
  // Steps are believed to differ by so much by chance, as if so many had been seen to.
  static constexpr double kUsualSquares = 0.02, kUsualNumber = 2;
  // Steps of a kind: half of them count on as there are more.
  static constexpr double kMost = 32;

  struct Logs {
    void add(double log) {
      number += 1;
      sum += log;
      squares += log * log;
    }
    void fade() { number /= 2, sum /= 2, squares /= 2; }
    double mean() const { return sum / number; }

    double number = 0, sum = 0, squares = 0;
  };

  // By which a step's logarithm differs by chance.
  double variance() const {
    double squares = kUsualSquares, number = kUsualNumber;
    for (const auto& of_way : kinds_) {
      for (const Logs& each : of_way) {
        if (each.number <= 0) continue;
        squares += std::max(0.0, each.squares - each.number * each.mean() * each.mean());
        number += each.number - 1;
      }
    }
    return squares / number;
  }

  // How much longer steps of some kinds took than those of others.
  struct Difference {
    void add(const Logs& longer, const Logs& than) {
      if (longer.number <= 0 || than.number <= 0) return;
      pairs += 1;
      logs += longer.mean() - than.mean();
      parts += 1 / longer.number + 1 / than.number;
    }
    double mean() const { return pairs > 0 ? logs / pairs : 0; }
    // By that of one step.
    double variance() const { return pairs > 0 ? parts / (pairs * pairs) : 0; }

    double pairs = 0, logs = 0, parts = 0;
  };

  std::array<std::array<Logs, 2>, 2> kinds_{};  // by the step's way, and the other
};

}  // namespace thinwire::choose
