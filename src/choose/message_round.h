// The steps of a timing round: raw, compressed, compressed and raw, or the other way round, in runs
// of one length; of a longer timing round eight runs, so that whatever a program does by turns is
// in as many of one way as of the other.
//
// If a program keeps several messages in flight (choose/lag.h), the first steps after a change of
// way are those in which it waits for messages of the other one. So there are so many more.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace thinwire::choose {

// Pauses between timing rounds are powers of two and timing rounds begin at multiples of them: so
// those of several ranks meet.
constexpr std::uint64_t kRoundGrid = 8;

inline std::uint64_t next_multiple(std::uint64_t position, std::uint64_t of) {
  return (position + of - 1) / of * of;
}

// The time from a timing round or a look to the next, by what its steps of the slower way cost
// more.
inline constexpr double kPartOfTime = 100;
inline constexpr std::uint64_t kLongestPause = 1 << 16;

// A power of two of `least` or more: so many steps pay what the next look costs, but no more than
// `most` pass, which is little after few looks.
inline std::uint64_t pause_of(double paid, std::uint64_t least, std::uint64_t most) {
  const double steps = std::min(paid, static_cast<double>(most));
  return std::bit_ceil(std::max(least, static_cast<std::uint64_t>(std::max(steps, 0.0))));
}
inline std::uint64_t end_of_pause(std::uint64_t position, std::uint64_t steps) {
  return next_multiple(position + steps / 2, steps);
}

struct MessageRound {
  std::uint64_t began = 0;  // at the step of this number
  std::uint64_t runs = 4;   // or more, without a lag: a power of two
  std::uint64_t run = 1;    // steps in each
  std::uint64_t lag = 0;    // steps
  bool is_coded_first = false;

  std::uint64_t steps() const { return runs * run + 3 * lag; }
  bool is_over(std::uint64_t position) const { return position >= began + steps(); }
  bool is_coded(std::uint64_t position) const {
    const std::uint64_t at = position - began;
    const bool is_middle = at >= lag + run && at < 2 * lag + 3 * run;
    const bool is_second = lag > 0 ? is_middle : std::popcount(at / run) % 2 != 0;
    return is_second != is_coded_first;
  }
  // A round of at least as many timed steps.
  MessageRound with_lag(std::uint64_t lag_of_program) const {
    MessageRound with = *this;
    if (lag_of_program == 0) return with;
    with.run = std::max(lag_of_program, runs * run / 4);
    with.runs = 4;
    with.lag = lag_of_program;
    return with;
  }
};

// Which way is first, by the number of the timing round's first step alone. Were it the same one in
// all timing rounds, a program that repeats itself after 16 or 64 steps would have the same of its
// steps compressed in each. Timing rounds at powers of two, one after another, differ in it, and so
// do those at multiples of one.
inline bool begins_coded(std::uint64_t began) {
  constexpr std::uint64_t kEverySecondBit = 0xAAAAAAAAAAAAAAAA;
  return std::popcount(began & kEverySecondBit) % 2 != 0;
}

}  // namespace thinwire::choose
