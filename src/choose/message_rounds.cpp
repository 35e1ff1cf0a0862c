// When messages of a kind go both ways, and what follows from it.
#include <algorithm>
#include <bit>
#include <utility>

#include "choose/constants.h"
#include "choose/message_kind.h"

namespace thinwire::choose {
namespace {

constexpr double kMostTimes = 32;

// Standard deviations by which compressed messages have to be faster to begin, of few times and of
// more, and to go on. In doubt they go raw.
constexpr double kBeginsOfFew = 3.5, kBegins = 2.75, kGoesOn = 0.5;
constexpr double kFew = 4;
// With a lag so many fewer: a glance has found before that they are not slower.
constexpr double kGlanced = 1;
// The mean time of compressed steps at the most, as a part of that of raw ones, to begin and to go
// on.
constexpr double kLeastGain = 0.98, kMostOfMean = 1.1;
// Between these it is open which way is faster.
constexpr double kPromising = 1, kDoubtful = 2;
// A decision that is so certain needs no early confirmation.
constexpr double kCertain = 6;

constexpr std::uint64_t kConfirms = 32;
// Steps after a timing round of few that was asked for while messages were compressed: in doubt the
// next one comes soon, but not before some steps have gone the way that was found.
constexpr std::uint64_t kAfterAsked = 8;
constexpr std::uint32_t kMostConfirmed = 8;
constexpr std::uint64_t kLongRuns = 32;
// Ranks that send each other may know the link's rate some steps one after another, so that their
// first timing rounds do not meet: the second comes soon.
constexpr std::uint64_t kSecond = 16;
// The logarithm of what one way took longer than the other, of two runs: less than in single calls,
// as it is the mean of a run.
constexpr double kHopelessRun = 1.1;
// The longest raw step lately counts so many times.
constexpr double kOfLongest = 1.5;
// The cost of a timing round with a lag, in steps of the faster way.
constexpr double kMostLost = 4;
// A glance at compressed messages costs so little of the time to the next.
constexpr double kPartRaw = 32;

// Longer ones later: a few times tell what differs by much, more of them what differs by little.
MessageRound usual_round(std::uint64_t position) {
  return {.began = position,
          .runs = position < 32 ? 4U : 8U,
          .run = position < 128 ? 1U : 2U,
          .is_coded_first = begins_coded(position)};
}

}  // namespace

bool MessageKind::has_shifted(const Foreseen& foreseen) const {
  if (rounds_ == 0 || position_ < round_.began + kConfirms) return false;
  return foreseen.has_shifted(codes_, gain_);
}

MessageRound MessageKind::round_at(std::uint64_t position) const {
  return usual_round(position).with_lag(lag());
}

// Messages that are compressed untimed have to be timed.
void MessageKind::begin_glance_or_round(const Foreseen& foreseen) {
  const bool is_untimed = codes_ && !times_.are_timed();
  if (lag() == 0 || has_glanced_ || is_untimed) {
    begin_round(foreseen);
  } else {
    glance_.begin(position_, lag());
  }
}

void MessageKind::begin_round(const Foreseen& foreseen) {
  is_in_round_ = true;
  gain_ = foreseen.gain();
  const bool goes_on = rounds_ > 0 && position_ == round_.began + round_.steps();
  const MessageRound before = round_;
  round_ = round_at(position_);
  if (goes_on && round_.lag == before.lag) round_.runs = before.runs, round_.run = before.run;
  if (is_asked_for_) round_.runs = is_long_ && round_.lag == 0 ? kLongRuns : 4, round_.run = 1;
  // A first timing round that the other rank did not take part in tells nothing.
  if (rounds_ == 1 && !codes_) times_ = {};
  if (times_.raw().number() >= kMostTimes) times_.fade();
  times_.end_pair();
  others_ = {};
  if (begin_after_glance() || due_ != 0 || codes_) return;
  round_.began -= round_.lag + 1;  // the steps before were raw
  round_.is_coded_first = false;
  add_time(false);
  if (round_.lag == 0) paid_later_.add(last_took_, false, false);
}

// After a glance all steps went one way: they are those before the timed ones of the first run, and
// that run if it is as long.
bool MessageKind::begin_after_glance() {
  if (!std::exchange(has_glanced_, false) || round_.lag == 0) return false;
  round_.is_coded_first = codes_;
  round_.began -= round_.lag;
  if (round_.run != round_.lag || glance_.after().number() != static_cast<double>(round_.run))
    return true;
  round_.began -= round_.run;
  for (std::uint64_t step = 0; step < round_.run; ++step)
    times_.add(glance_.after().mean(), codes_, static_cast<double>(round_.run), true);
  return true;
}

void MessageKind::end_glance() {
  glance_.end();
  has_glanced_ = !glance_.is_other_slower(codes_);
  if (has_glanced_) {
    glances_ = 0;
    due_ = position_;
    return;
  }
  glances_ = std::min(glances_ + 1, kMostConfirmed);
  if (is_asked_for_) {
    changed_.note_round(is_long_, false, glance_.more() * glance_.after().mean());
    changed_.begin(glance_.after(), 0);
  }
  is_asked_for_ = is_long_ = false;
  const std::uint64_t lag = this->lag();
  const std::uint64_t steps = codes_ ? pause_coded(lag, glances_)
                                     : pause_of(kPartRaw * glance_.more(), 2 * lag,
                                                (2 * lag + 2 * kRoundGrid) << (glances_ - 1));
  due_ = end_of_pause(position_, steps);
}

// Steps to the next glance, while messages are compressed.
std::uint64_t MessageKind::pause_coded(std::uint64_t lag, std::uint32_t doublings) const {
  const auto others = static_cast<double>(Glance::others(lag));
  return pause_of(kPartOfTime * others * times_.part_slower(true), 4 * lag, 4 * lag << doublings);
}

// Steps from a timing round to the next. While both ways may still be the faster one they are few,
// and none if compressed ones seem to be: a timing round costs nothing then.
std::uint64_t MessageKind::pause() const {
  const double faster = times_.deviations_faster(), slower = times_.part_slower(codes_);
  if (!codes_ && faster > kPromising) return std::bit_ceil(round_.steps());
  if (rounds_ == 1 && !codes_) return kSecond;
  const std::uint32_t doublings = std::min(confirmed_, kMostConfirmed);
  if (codes_ && round_.lag > 0) return pause_coded(round_.lag, doublings);
  const auto paid_by = [slower](const MessageRound& next) {
    const double pause = kPartOfTime / 2 * static_cast<double>(next.steps()) * slower;
    return static_cast<std::uint64_t>(std::min(pause, double{kLongestPause}));
  };
  std::uint64_t steps = paid_by(round_at(position_ + paid_by(round_at(position_))));
  if (codes_ && faster < kCertain) steps = std::min(steps, kConfirms << doublings);
  if (!codes_ && is_timed() && faster > -kDoubtful)
    steps = std::min(steps, kRoundGrid << doublings);
  if (!is_timed()) steps = kRoundGrid << std::min(rounds_, kMostConfirmed);
  const std::uint64_t least = std::max(kRoundGrid, 4 * round_.steps() - 16);
  return std::bit_ceil(std::max(steps, least));
}

bool MessageKind::is_doubtful() const {
  return times_.deviations_faster() < (codes_ ? kBegins : kPromising);
}

// Its position. What was decided holds for some steps, but timing rounds of several ranks that find
// nothing are to meet soon.
std::uint64_t MessageKind::next_round(bool is_in_doubt) const {
  if (is_in_doubt) return next_multiple(position_ + kAfterAsked, kRoundGrid);
  const std::uint64_t steps = pause();
  return next_multiple(steps > kSecond ? position_ + steps / 2 : position_, steps);
}

void MessageKind::decide() {
  if (!is_timed()) return;  // nothing shrank
  const bool before = codes_;
  const bool are_few = std::min(times_.raw().number(), times_.coded().number()) < kFew;
  const double begins = (are_few ? kBeginsOfFew : kBegins) - (round_.lag > 0 ? kGlanced : 0);
  const double needed = before ? kGoesOn : begins;
  // A gain that steps which now and then take long take back is none.
  const double most = (before ? kMostOfMean : kLeastGain) * times_.raw().mean();
  codes_ = times_.deviations_faster() >= needed && times_.coded().mean() <= most;
  confirmed_ = codes_ == before ? confirmed_ + 1 : 0;
}

// Tells of a timing round that was asked for how much less its other steps would have taken, had
// they gone as all did before it.
void MessageKind::note_end(bool codes_before) {
  const double longer = times_.of(!codes_before).mean() - times_.of(codes_before).mean();
  const double steps = static_cast<double>(position_ - round_.began) / 2;
  if (is_asked_for_)
    changed_.note_round(is_long_, codes_ != codes_before, is_timed() ? steps * longer : 0);
  is_asked_for_ = is_long_ = false;
  changed_.begin(times_.of(codes_), codes_ ? times_.raw().mean() : 0);
}

// The way that is not taken between timing rounds took so much longer that the rest would only
// cost.
bool MessageKind::is_hopeless() {
  // Steps of its own tell nothing; one pair of a long one tells nothing of the others.
  if (came_.decides() || is_long_) return false;
  // One raw step after compressed ones may have paid for them, or have met a slow moment.
  if (codes_ && round_.lag == 0 && position_ < round_.began + 4 * round_.run) return false;
  // Neither is a compressed step hopeless if raw ones now and then take about as long.
  if (!codes_ && round_.lag == 0 && others_.mean() < kOfLongest * longest_raw_) return false;
  if ((codes_ ? times_.last_pair() : -times_.last_pair()) > kHopelessRun) return true;
  const double usual = times_.of(codes_).mean(), number = others_.number();
  const bool costs = number >= kFew && number * (others_.mean() - usual) > kMostLost * usual;
  if (round_.lag == 0 || usual <= 0 || !costs) return false;
  times_.add(others_.mean(), !codes_, 1, false);
  return true;
}

void MessageKind::end_round() {
  is_in_round_ = false;
  ++rounds_;
  if (came_.decides()) {
    times_ = came_.times();
  } else if (begin_anew_with_lag()) {
    return;
  }
  const bool before = codes_;
  decide();
  const bool is_in_doubt = is_asked_for_ && before && is_doubtful();
  note_end(before);
  if (begins_anew_late()) return;
  due_ = next_round(is_in_doubt);
}

}  // namespace thinwire::choose
