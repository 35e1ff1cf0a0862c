// The price of trying compression while messages go raw, whatever timing rounds find: how much
// longer steps of timing rounds and some after them took than raw ones before or after. Timing
// rounds wait until it is a small part of all time; those that changed times ask for do not.
#pragma once

#include <algorithm>
#include <cstdint>

#include "choose/way_times.h"

namespace thinwire::choose {

class TimingPrice {
 public:
  // A step took so long. `raw_in_row`: so many steps, the last one included, went raw since one
  // that did not, or since the first.
  void add(double nanoseconds, std::uint64_t raw_in_row) {
    if (raw_in_row > kSettled) {
      add_usual(nanoseconds);
    } else if (before_.number() >= kFewest) {
      tried_ += 1;
      took_ += std::min(nanoseconds, kMostOfStep * before_.mean());  // one may be long by chance
    }
  }
  // Whether the next timing round may begin.
  bool is_paid() const { return steps_ + more_than(before_.mean()) <= kFree; }
  // The program or its link has changed.
  void forget() { before_ = after_ = {}, tried_ = took_ = 0; }

 private:
  // A message is paid for within so many steps.
  static constexpr std::uint64_t kSettled = 8;
  static constexpr double kFewest = 4, kMostTimes = 32, kMostOfStep = 9;
  // In raw steps: what may be spent in advance, and of each.
  static constexpr double kFree = 12, kPart = 0.01;

  double more_than(double usual) const { return usual > 0 ? took_ / usual - tried_ : 0; }

  void add_usual(double nanoseconds) {
    steps_ = std::max(0.0, steps_ - kPart);
    after_.add(nanoseconds);
    if (after_.number() < kFewest) return;
    // Compared with the longer raw steps: a program that becomes slower by itself is not charged.
    steps_ = std::max(0.0, steps_ + more_than(std::max(before_.mean(), after_.mean())));
    tried_ = took_ = 0;
    if (before_.number() >= kMostTimes) before_.fade();
    before_.add(after_);
    after_ = {};
  }

  WayTimes before_, after_;  // of raw steps among themselves
  double tried_ = 0, took_ = 0;
  double steps_ = 0;
};

}  // namespace thinwire::choose
