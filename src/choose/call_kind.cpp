#include "choose/call_kind.h"

#include <algorithm>
#include <bit>

#include "base/float_mode.h"

namespace thinwire::choose {
namespace {

constexpr std::uint32_t kCalls = calls_of_round(1);  // of each way
constexpr std::uint32_t kFirst = 2;                  // raw ones, and compressed ones to give up by

// Compressed calls that take so many times as long as raw ones need no more of them.
constexpr std::uint64_t kByFar = 4;

// A plan that differs so much from that of the last timing round: the link is another one.
constexpr double kShift = 1.5;

// Between timing rounds one compressed call of so many is timed, ever fewer while all is well; the
// least of some tells whether raw ones would be faster by now. Raw ones are not watched: what could
// make compressed ones pay, the plan's rate tells.
constexpr std::uint64_t kToWatched = 8;
constexpr std::uint32_t kMostDoublings = 1, kWatchedTogether = 3;

double gain_of(const Foreseen& foreseen) {
  // A cost that was never measured makes the time infinite or no number.
  return foreseen.coded_seconds > 0 ? foreseen.raw_seconds / foreseen.coded_seconds : 0;
}

// Calls before what is foreseen to lose is tried all the same.
std::uint64_t calls_to_a_try(const Foreseen& foreseen) {
  constexpr double kMost = 1e9, kNanoseconds = 1e9;
  if (!(foreseen.coded_seconds < kMost) || !(foreseen.raw_seconds < kMost)) return UINT64_MAX;
  return calls_between({static_cast<std::uint64_t>(foreseen.raw_seconds * kNanoseconds),
                        static_cast<std::uint64_t>(foreseen.coded_seconds * kNanoseconds)},
                       kCalls, 0);
}

}  // namespace

bool CallKind::has_shifted(const Foreseen& foreseen) const {
  const double gain = gain_of(foreseen);
  return codes_ ? gain * kShift < gain_ : foreseen.pays && gain > gain_ * kShift;
}

bool CallKind::wants_round(const Foreseen& foreseen) const {
  if (decided_ == 0) return foreseen.pays || (!once_ && calls_ >= calls_to_a_try(foreseen));
  return !once_ && (has_shifted(foreseen) || calls_ >= pause_);
}

void CallKind::begin_round(const Foreseen& foreseen) {
  is_in_round_ = true;
  is_spread_ = decided_ > 0 && pause_ > 0 && !has_shifted(foreseen);
  has_hope_ = codes_;
  position_ = watched_ = 0;
  own_ = {};
  raw_mean_ = coded_mean_ = {};
  gain_ = gain_of(foreseen);
}

CallTurn CallKind::turn_in_round(std::uint32_t position) const {
  CallTurn turn{.is_coded = false, .is_timed = true, .is_in_round = true};
  if (is_spread_) {
    const RoundPosition place = position_in_round(position, decided_ + 1, kCalls);
    turn.is_coded = place.is_other_way != codes_;
    turn.is_timed = turn.is_in_round = place.is_timed;
  } else if (codes_) {
    turn.is_coded = position < kCalls;
  } else {
    turn.is_coded = position >= kFirst && position < kFirst + kCalls;
  }
  return turn;
}

CallTurn CallKind::next(const Foreseen& foreseen) {
  const DefaultFloatMode mode;
  if (!is_in_round_ && wants_round(foreseen)) begin_round(foreseen);
  ++calls_;
  if (is_in_round_) return turn_in_round(position_++);
  const bool is_watched =
      codes_ && !once_ && calls_ % (kToWatched << std::min(quiet_, kMostDoublings)) == 0;
  watched_ += is_watched ? 1 : 0;
  return {.is_coded = codes_, .is_timed = is_watched};
}

void CallKind::took(bool is_coded, std::uint64_t nanoseconds) {
  std::uint64_t& least = is_coded ? own_.coded : own_.raw;
  if (least == 0 || nanoseconds < least) least = nanoseconds;
  if (is_in_round_) (is_coded ? coded_mean_ : raw_mean_).add(nanoseconds);
}

bool CallKind::is_due() const {
  if (!is_in_round_) return watched_ == kWatchedTogether;
  if (is_spread_) return position_ == kSpreadCalls;
  return position_ == 2 * kCalls || (!has_hope_ && position_ == 2 * kFirst);
}

bool CallKind::adopt(RoundTimes largest) {
  const DefaultFloatMode mode;
  if (!is_in_round_) {
    watched_ = 0;
    own_ = {};
    const bool is_slow = is_overtaken(largest.coded, took_, true);
    quiet_ = is_slow ? 0 : quiet_ + 1;
    if (is_slow) pause_ = 0;
    return false;
  }
  const bool is_early = position_ < 2 * kCalls;
  if (is_early && largest.coded / kByFar <= largest.raw) {
    has_hope_ = true;
    return false;
  }
  decide(largest, is_early ? kFirst : kCalls);
  return true;
}

void CallKind::decide(const RoundTimes& largest, std::uint32_t calls_timed) {
  const bool before = codes_;
  codes_ = pays(largest, before);
  confirmed_ = decided_ > 0 && codes_ == before ? confirmed_ + 1 : 0;
  ++decided_;
  took_ = largest;
  own_ = {};
  const std::uint64_t raw = raw_mean_.get(), coded = coded_mean_.get();
  saving_ = raw == 0 || coded == 0 ? 0 : static_cast<std::int64_t>(raw - coded);
  is_in_round_ = false;
  quiet_ = 0;
  calls_ = 0;
  pause_ = calls_between(took_, calls_timed, confirmed_, decided_ == 1);
}

bool CallKind::codes(const Foreseen& foreseen) {
  if (is_decided()) return codes_;
  was_foreseen_ = foreseen.pays || (once_ && was_foreseen_);
  return was_foreseen_;
}

std::uint64_t CallKind::fingerprint() const {
  std::uint64_t mixed = 0;
  for (const std::uint64_t word :
       {std::uint64_t{once_}, std::uint64_t{codes_}, std::uint64_t{was_foreseen_},
        std::uint64_t{is_in_round_}, std::uint64_t{is_spread_}, std::uint64_t{has_hope_},
        std::uint64_t{position_}, std::uint64_t{decided_}, std::uint64_t{confirmed_}, calls_,
        pause_, std::bit_cast<std::uint64_t>(gain_), took_.raw, took_.coded,
        std::uint64_t{watched_}, std::uint64_t{quiet_}}) {
    mixed = mix(mixed, word);
  }
  return mixed;
}

}  // namespace thinwire::choose
