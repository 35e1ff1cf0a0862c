// Whether a program waits for a message some steps after that in which it is sent, without that
// anybody sees it in flight (choose/lag.h). A timing round without a lag (choose/message_round.h)
// would find the contrary of what is so. In a long look several steps in a row go the other way,
// and the last of them are compared with usual ones.
#pragma once

#include <cstdint>

#include "choose/way_times.h"

namespace thinwire::choose {

class LongLook {
 public:
  // Steps within which a message is waited for, as it is believed.
  std::uint64_t lag() const { return looks_ == 0 ? kFirstLag : kLag; }

  // A step took so long, and was the `in_row`th one after another to go that way.
  void add(double nanoseconds, bool is_coded, std::uint64_t in_row);

  // Whether there should be a look from step `position` on, while messages go as `codes` says.
  // `slower`: the other way seems to take so much longer, as a part of a step.
  bool is_due(std::uint64_t position, bool codes, double slower) const;
  void begin(std::uint64_t position);
  bool is_on() const { return is_on_; }
  // In a look: whether the step goes the other way, and whether the look is over before it.
  bool is_other(std::uint64_t position) const { return position < usual_from_; }
  bool is_over(std::uint64_t position) const { return position >= usual_from_ + lag(); }
  void end(std::uint64_t position);
  void give_up() { is_on_ = false; }

  // In a look, after its steps of the other way: whether these surely take less.
  bool is_other_faster() const;

 private:
  // The first look comes soon, and is short.
  static constexpr std::uint64_t kFirstLag = 4, kLag = 8, kFirstTimed = 3, kTimed = 8;

  WayTimes usual_;  // steps of one way after some of the same
  bool is_usual_coded_ = false;
  bool is_on_ = false;
  WayTimes others_;               // of the look, likewise
  std::uint64_t usual_from_ = 0;  // the step after those of the other way
  std::uint64_t due_ = 0;
  std::uint32_t looks_ = 0;
  double cost_ = 0;  // in usual steps
};

}  // namespace thinwire::choose
