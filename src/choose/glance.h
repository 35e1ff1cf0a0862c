// A short look at the other way, in a program that keeps several messages in flight: one of them or
// a few go that way, and the program waits longer or less as many steps later as there are messages
// in flight. A timing round has runs of that many steps: if they take several times as long, all of
// them are on their way before the first one is seen to.
//
// A glance tells only whether the other way is surely slower. If not, a timing round tells.
#pragma once

#include <cstdint>

#include "choose/way_times.h"

namespace thinwire::choose {

class Glance {
 public:
  bool is_on() const { return is_on_; }
  // With step `position`. `lag`: messages in flight, in steps, at least one.
  void begin(std::uint64_t position, std::uint64_t lag);
  void end() { is_on_ = false; }

  // Steps that go the other way, if so many messages are in flight.
  static std::uint64_t others(std::uint64_t lag);
  bool is_other(std::uint64_t position) const;
  bool is_over(std::uint64_t position) const;

  // A step took so long. Those before a glance are what it is compared with, if they were `usual`:
  // went the way that all go, and waited for messages that did.
  void add(std::uint64_t position, double nanoseconds, bool is_usual, std::uint64_t lag);

  // After it. How many usual steps would have taken what its steps of the other way cost more.
  double more() const;
  bool is_other_slower(bool codes) const;
  // The steps after those in which the program has waited for the others: usual ones.
  const WayTimes& after() const { return after_; }

 private:
  bool is_on_ = false;
  std::uint64_t began_ = 0, lag_ = 0;
  WayTimes usual_;  // the last steps before it
  WayTimes during_, after_;
};

}  // namespace thinwire::choose
