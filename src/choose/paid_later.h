// Whether a step's time tells of the way that the step before it went, more than of its own: a
// program that sends a message and then waits for what comes of the one before it has one in flight
// that nobody sees, since the sender's part of it is complete (choose/lag.h).
//
// In timing rounds without a lag all four kinds of steps occur: of each way, after each way.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace thinwire::choose {

class PaidLater {
 public:
  // A step of a timing round without a lag.
  void add(double nanoseconds, bool is_coded, bool was_coded_before) {
    kinds_[is_coded ? 1 : 0][was_coded_before ? 1 : 0].add(std::log(std::max(nanoseconds, 1.0)));
  }
  void forget() { kinds_ = {}; }

  // After a timing round. True as soon as it is found, and it stays so. While messages are
  // compressed (`codes`) fewer steps are enough: a mistake there costs more than a lag.
  bool find(bool codes) {
    is_found_ = is_found_ || ((codes || are_many()) && tells());
    return is_found_;
  }
  bool is_found() const { return is_found_; }

 private:
  // The way before makes so much of a difference, by the logarithm, so many times as much as the
  // step's own way, and as many standard deviations.
  static constexpr double kLeast = 0.25, kTimes = 2, kDeviations = 3.5;
  // Steps are believed to differ by so much by chance, as if so many had been seen to.
  static constexpr double kUsualSquares = 0.02, kUsualNumber = 2;

  struct Logs {
    void add(double log) {
      number += 1;
      sum += log;
      squares += log * log;
    }
    double mean() const { return sum / number; }

    double number = 0, sum = 0, squares = 0;
  };

  // All kinds occurred, and some of them again.
  bool are_many() const {
    constexpr double kFewest = 2, kKinds = 2;
    double several = 0;
    for (const auto& of_way : kinds_) {
      for (const Logs& each : of_way) {
        if (each.number <= 0) return false;
        several += each.number >= kFewest ? 1 : 0;
      }
    }
    return several >= kKinds;
  }

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

  bool tells() const {
    const auto& [raw, coded] = kinds_;
    Difference before, own;
    before.add(raw[1], raw[0]);
    before.add(coded[1], coded[0]);
    own.add(coded[0], raw[0]);
    own.add(coded[1], raw[1]);
    if (before.pairs <= 0 || own.pairs <= 0) return false;
    const double by_chance = kDeviations * std::sqrt(before.variance() * variance());
    return std::abs(before.mean()) >= std::max({kLeast, kTimes * std::abs(own.mean()), by_chance});
  }

  std::array<std::array<Logs, 2>, 2> kinds_{};  // by the step's way, and that before it
  bool is_found_ = false;
};

}  // namespace thinwire::choose
