#include "choose/call_kind.h"

#include <algorithm>
#include <bit>

#include "base/float_mode.h"
#include "base/mix.h"

namespace thinwire::choose {
namespace {

// Between timing rounds one compressed call of so many is timed, ever fewer while all is well; the
// least of some tells whether raw ones would be faster by now. Raw ones are not watched: what could
// make compressed ones pay, the plan's rate tells. Each costs two barriers, so they are few. If
// timing is free, all are timed, and so many together that their mean tells something, too.
constexpr std::uint64_t kToWatched = 8;
constexpr std::uint32_t kMostWatchDoublings = 1, kWatchedTogether = 3;

// Calls before what is foreseen to lose is tried all the same.
std::uint64_t calls_to_a_try(const Foreseen& foreseen, std::uint32_t calls) {
  constexpr double kMost = 1e9, kNanoseconds = 1e9;
  if (!(foreseen.coded_seconds < kMost) || !(foreseen.raw_seconds < kMost)) return UINT64_MAX;
  return calls_between({static_cast<std::uint64_t>(foreseen.raw_seconds * kNanoseconds),
                        static_cast<std::uint64_t>(foreseen.coded_seconds * kNanoseconds)},
                       calls, 0);
}

}  // namespace

bool CallKind::wants_round(const Foreseen& foreseen) const {
  const bool is_free = !options_.once;
  if (decided_ == 0) {
    return foreseen.pays || (is_free && calls_ >= calls_to_a_try(foreseen, options_.calls));
  }
  return is_free && (foreseen.has_shifted(codes_, gain_) || calls_ >= pause_);
}

void CallKind::begin_round(const Foreseen& foreseen) {
  is_in_round_ = true;
  is_spread_ = decided_ > 0 && pause_ > 0 && !foreseen.has_shifted(codes_, gain_);
  has_hope_ = codes_;
  position_ = watched_ = 0;
  own_ = {};
  gain_ = foreseen.gain();
}

// A round that there is reason for is to be over soon, as the first one.
CallTurn CallKind::turn_in_round() {
  const std::uint32_t round = is_spread_ ? decided_ + 1 : 1;
  const RoundPosition here = position_in_round(position_++, round, options_.calls);
  return {here.is_other_way != codes_, here.is_timed, here.is_timed};
}

bool CallKind::is_watched_now() const {
  if (!codes_ || options_.once) return false;
  return options_.is_timing_free ||
         calls_ % (kToWatched << std::min(quiet_, kMostWatchDoublings)) == 0;
}

std::uint32_t CallKind::watched_together() const {
  return options_.is_timing_free ? kWatched : kWatchedTogether;
}

CallTurn CallKind::next(const Foreseen& foreseen) {
  const DefaultFloatMode mode;
  if (!is_in_round_ && wants_round(foreseen)) begin_round(foreseen);
  ++calls_;
  if (is_in_round_) return turn_in_round();
  const bool is_watched = is_watched_now();
  watched_ += is_watched ? 1 : 0;
  return {.is_coded = codes_, .is_timed = is_watched};
}

bool CallKind::is_due() const {
  if (!is_in_round_) return watched_ >= watched_together();
  if (is_spread_) return position_ == spread_calls(options_.calls);
  return position_ == 2 * options_.calls || (!has_hope_ && position_ == 2 * kTimedFirst) ||
         (options_.once && position_ == 2 * kTimedForGood);
}

// The mean of three says nothing, as one late rank is in it.
void CallKind::adopt_watched(const RoundTimes& largest) {
  const bool is_slow = is_overtaken(largest, took_, true, options_.is_timing_free);
  watched_ = 0;
  own_ = {};
  quiet_ = is_slow ? 0 : quiet_ + 1;
  if (is_slow) pause_ = 0;
}

bool CallKind::adopt(const RoundTimes& largest) {
  const DefaultFloatMode mode;
  if (!is_in_round_) {
    adopt_watched(largest);
    return false;
  }
  const bool is_early = position_ < 2 * options_.calls;
  const bool is_lost = largest.coded / kHopeless > largest.raw;
  const bool is_sure = surely_pays(largest) && (!options_.once || position_ >= 2 * kTimedForGood);
  if (is_early && !is_lost && !is_sure) {
    has_hope_ = true;
    return false;
  }
  decide(largest, is_early && is_lost ? kTimedFirst : options_.calls);
  if (is_early && is_sure) pause_ = kCallsAfterFew;
  return true;
}

void CallKind::decide(const RoundTimes& largest, std::uint32_t calls_timed) {
  const bool before = codes_;
  codes_ = pays(largest, before);
  confirmed_ = decided_ > 0 && codes_ == before ? confirmed_ + 1 : 0;
  ++decided_;
  took_ = largest;
  const RoundTimes own = own_.get();
  saving_ = own.has_means() ? static_cast<std::int64_t>(own.raw_mean - own.coded_mean) : 0;
  own_ = {};
  is_in_round_ = false;
  quiet_ = 0;
  calls_ = 0;
  pause_ = calls_between(took_, calls_timed, confirmed_, decided_ == 1);
}

bool CallKind::codes(const Foreseen& foreseen) {
  if (is_decided()) return codes_;
  was_foreseen_ = foreseen.pays || (options_.once && was_foreseen_);
  return was_foreseen_;
}

std::uint64_t CallKind::fingerprint() const {
  std::uint64_t mixed = 0;
  for (const std::uint64_t word :
       {std::uint64_t{options_.once}, std::uint64_t{codes_}, std::uint64_t{was_foreseen_},
        std::uint64_t{is_in_round_}, std::uint64_t{is_spread_}, std::uint64_t{has_hope_},
        std::uint64_t{position_}, std::uint64_t{decided_}, std::uint64_t{confirmed_}, calls_,
        pause_, std::bit_cast<std::uint64_t>(gain_), took_.raw, took_.coded, took_.raw_mean,
        took_.coded_mean, std::uint64_t{watched_}, std::uint64_t{quiet_}}) {
    mixed = mix_of(mixed, word);
  }
  return mixed;
}

}  // namespace thinwire::choose
