// Whether a step's time tells of the way that the step before it went, more than of its own: a
// program that sends a message and then waits for what comes of the one before it has one in flight
// that nobody sees, since the sender's part of it is complete (choose/lag.h).
//
// In timing rounds without a lag all four kinds of steps occur: of each way, after each way.
#pragma once

#include "choose/other_way.h"

namespace thinwire::choose {

class PaidLater {
 public:
  // A step of a timing round without a lag.
  void add(double nanoseconds, bool is_coded, bool was_coded_before) {
    before_.add(nanoseconds, is_coded, was_coded_before);
  }
  void forget() { before_.forget(); }

  // After a timing round. True as soon as it is found, and it stays so. While messages are
  // compressed (`codes`) fewer steps are enough: a mistake there costs more than a lag.
  bool find(bool codes) {
    const bool are_many = before_.kinds_with(1) == 4 && before_.kinds_with(2) >= 2;
    is_found_ = is_found_ || ((codes || are_many) && before_.tells(kLeast));
    return is_found_;
  }
  bool is_found() const { return is_found_; }

 private:
  static constexpr double kLeast = 0.25;

  OtherWay before_;
  bool is_found_ = false;
};

}  // namespace thinwire::choose
