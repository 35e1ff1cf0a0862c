// Whether steps of a program take long and short by turns, as those of two ranks that send each
// other at once do over a slow TCP link: what lets one message go waits in the queue after all of
// another, so that each second step pays for the one before it. Steps of such a program are timed
// as if it kept a message in flight (choose/lag.h), or a step's time would tell of the way that the
// step before it went.
#pragma once

#include <algorithm>
#include <cstdint>

namespace thinwire::choose {

class Alternation {
 public:
  // Steps one after another that went the same way, the last one included; else end() comes
  // between them.
  void add(double nanoseconds) {
    if (before_ > 0)
      note(differ(nanoseconds, last_, kApart) && !differ(nanoseconds, before_, kAlike));
    before_ = last_;
    last_ = nanoseconds;
  }
  void end() { last_ = before_ = 0; }

  bool is_on() const { return is_on_; }

 private:
  // A step takes so many times as long as the one before it or the other way round, and no more
  // than so many times as long as the one before that. So many of these in a row begin it, and so
  // many others end it.
  static constexpr double kApart = 1.5, kAlike = 1.25;
  static constexpr std::uint32_t kBegins = 5, kEnds = 16;

  static bool differ(double one, double other, double times) {
    return std::max(one, other) >= times * std::min(one, other);
  }

  void note(bool turns) {
    turns_ = turns ? turns_ + 1 : 0;
    others_ = turns ? 0 : others_ + 1;
    if (turns_ >= kBegins) is_on_ = true;
    if (others_ >= kEnds) is_on_ = false;
  }

  double last_ = 0, before_ = 0;  // steps' nanoseconds; 0: none
  bool is_on_ = false;
  std::uint32_t turns_ = 0, others_ = 0;  // in a row
};

}  // namespace thinwire::choose
