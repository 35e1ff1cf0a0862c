// Whether a step's time tells of some other way, such as that of the step before it, more than of
// the way that its own messages went: from steps of all four kinds, of each way and of each other
// way.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "choose/way_times.h"

namespace thinwire::choose {

class OtherWay {
 public:
  void add(double nanoseconds, bool is_coded, bool is_other_coded) {
    kinds_[is_coded ? 1 : 0][is_other_coded ? 1 : 0].add_late(nanoseconds, kMost);
  }
  void forget() { kinds_ = {}; }

  // How many kinds have so many steps.
  std::size_t kinds_with(double number) const {
    std::size_t kinds = 0;
    for (const auto& of_way : kinds_) {
      for (const WayTimes& each : of_way) kinds += each.number() >= number ? 1 : 0;
    }
    return kinds;
  }

  // The other way makes a difference of `least` or more, by the logarithm, so many times as much as
  // the step's own way, and as many standard deviations.
  bool tells(double least) const {
    const auto& [raw, coded] = kinds_;
    Difference other;
    other.add(raw[1], raw[0]);
    other.add(coded[1], coded[0]);
    const Difference own = of_own_way();
    if (other.pairs <= 0 || own.pairs <= 0) return false;
    const double by_chance = kDeviations * std::sqrt(other.variance() * variance());
    return std::abs(other.mean()) >= std::max({least, kTimes * std::abs(own.mean()), by_chance});
  }

  // By how much longer steps take that are compressed themselves, by the logarithm.
  double own_cost() const { return of_own_way().mean(); }

 private:
  static constexpr double kTimes = 2, kDeviations = 3.5;
  // Steps are believed to differ by so much by chance, as if so many had been seen to.
  static constexpr double kUsualSquares = 0.02, kUsualNumber = 2;
  // Steps of a kind: half of them count on as there are more.
  static constexpr double kMost = 32;

  // By which a step's logarithm differs by chance.
  double variance() const {
    double squares = kUsualSquares, number = kUsualNumber;
    for (const auto& of_way : kinds_) {
      for (const WayTimes& each : of_way) {
        if (each.number() <= 0) continue;
        squares += each.differences();
        number += each.number() - 1;
      }
    }
    return squares / number;
  }

  // How much longer steps of some kinds took than those of others.
  struct Difference {
    void add(const WayTimes& longer, const WayTimes& than) {
      if (longer.number() <= 0 || than.number() <= 0) return;
      pairs += 1;
      logs += longer.mean_log() - than.mean_log();
      parts += 1 / longer.number() + 1 / than.number();
    }
    double mean() const { return pairs > 0 ? logs / pairs : 0; }
    // By that of one step.
    double variance() const { return pairs > 0 ? parts / (pairs * pairs) : 0; }

    double pairs = 0, logs = 0, parts = 0;
  };

  Difference of_own_way() const {
    const auto& [raw, coded] = kinds_;
    Difference own;
    own.add(coded[0], raw[0]);
    own.add(coded[1], raw[1]);
    return own;
  }

  std::array<std::array<WayTimes, 2>, 2> kinds_{};  // by the step's way, and the other
};

}  // namespace thinwire::choose
