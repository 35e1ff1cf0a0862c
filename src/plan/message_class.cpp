#include "plan/message_class.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/float_mode.h"

namespace thinwire::plan {
namespace {

// Times are believed to differ by so much of their mean, as if so many had been seen to.
constexpr double kUsualSpread = 0.1, kUsualNumber = 2;
constexpr double kMostTimes = 32;

// A program that sends more before it waits is taken for one that never does.
constexpr std::uint32_t kMostTogether = 64;

// Standard deviations by which compressed messages have to be faster to begin, of few times and of
// more, and to go on. In doubt they go raw.
constexpr double kBeginsOfFew = 3.5, kBegins = 2.75, kGoesOn = 0.5;
constexpr double kFew = 4;
// Of the mean time of raw rounds, that of compressed ones at the most, to begin and to go on.
constexpr double kLeastGain = 0.98, kMostOfMean = 1.1;
// Between these it is open which way is faster.
constexpr double kPromising = 1, kDoubtful = 2;
// That certain, a decision needs no early confirmation.
constexpr double kCertain = 6;

// What rounds of the slower way in a trial cost more is so small a part of the time to the next.
constexpr double kPartOfTime = 100;
constexpr double kLongestPause = 1 << 16;
// Pauses are powers of two and trials begin at multiples of them: so those of several ranks meet.
constexpr std::uint64_t kGrid = 8, kConfirms = 32;
constexpr std::uint32_t kMostConfirmed = 8;
// Ranks that send each other may know the link's rate some rounds one after another, so that their
// first trials do not meet: the second comes soon, unless compressed rounds took twice as long.
constexpr std::uint64_t kSecond = 16;
constexpr double kMuch = 1;

// A class that has its first trial with the program's word for a link's rate.
constexpr std::uint64_t kFirstOfStated = 16;

// A plan that differs so much from that of the last trial: the link is another one.
constexpr double kShift = 1.5;

// Longer runs later: a few times tell what differs by much, more of them what differs by little.
std::uint32_t run_at(std::uint64_t position) { return position < 32 ? 1 : position < 128 ? 2 : 4; }

std::uint64_t next_multiple(std::uint64_t position, std::uint64_t of) {
  return (position + of - 1) / of * of;
}

double gain_of(const Foreseen& foreseen) {
  return foreseen.coded_seconds > 0 ? foreseen.raw_seconds / foreseen.coded_seconds : 0;
}

}  // namespace

void WayTimes::add(double nanoseconds) {
  const double log = std::log(std::max(nanoseconds, 1.0));
  number_ += 1;
  sum_ += nanoseconds;
  logs_ += log;
  squares_ += log * log;
}

void WayTimes::fade() {
  for (double* const each : {&number_, &sum_, &logs_, &squares_}) *each /= 2;
}

double WayTimes::variance() const {
  if (number_ <= 0) return 0;
  const double all = std::max(0.0, squares_ - number_ * mean_log() * mean_log());
  const double usual = kUsualNumber * kUsualSpread * kUsualSpread;
  return (all + usual) / (number_ + kUsualNumber - 1) / number_;
}

MessageClass::MessageClass(const MessageClass& all, std::uint64_t messages) {
  if (all.messages_ == messages) {
    *this = all;
  } else {
    codes_ = all.codes_;
  }
}

// Of the round before, which ends with this one.
void MessageClass::note_time(std::uint64_t nanoseconds) {
  last_took_ = static_cast<double>(nanoseconds - std::min(last_, nanoseconds));
  last_ = nanoseconds;
  if (last_turn_.is_trial && !last_turn_.is_coded) raw_.add(last_took_);
  if (last_turn_.is_trial && last_turn_.is_coded && frames_of_round_ > 0) coded_.add(last_took_);
  count_frames();
}

void MessageClass::count_frames() {
  if (frames_of_round_ <= 0) return;
  if (rounds_ >= kMostTimes) {
    rounds_ /= 2;
    frames_ /= 2;
  }
  ++rounds_;
  frames_ += std::exchange(frames_of_round_, 0);
}

bool MessageClass::has_shifted(const Foreseen& foreseen) const {
  if (trials_ == 0 || position_ < began_ + kConfirms) return false;
  const double gain = gain_of(foreseen);
  return codes_ ? gain * kShift < gain_ : gain > gain_ * kShift;
}

bool MessageClass::is_due(const Foreseen& foreseen) {
  if (has_shifted(foreseen)) {
    raw_ = coded_ = {};
    confirmed_ = 0;
    gain_ = gain_of(foreseen);
    due_ = next_multiple(position_, kGrid);
  }
  if (due_ != 0) return position_ >= due_;
  // The first round opens connections, the second is the trial's first.
  return codes_ ? position_ >= kFirstOfStated : position_ >= 2 && position_ % 2 == 0;
}

void MessageClass::begin_trial(const Foreseen& foreseen) {
  is_on_trial_ = true;
  began_ = position_;
  run_ = run_at(position_);
  gain_ = gain_of(foreseen);
  if (due_ == 0 && !codes_) {  // the round before was raw
    --began_;
    raw_.add(last_took_);
  }
  // A first trial that the other rank did not take part in tells nothing.
  if (trials_ == 1 && !codes_) raw_ = coded_ = {};
  if (raw_.number() < kMostTimes) return;
  raw_.fade();
  coded_.fade();
}

// By how many standard deviations compressed rounds are faster.
double MessageClass::deviations_faster() const {
  if (!is_timed()) return 0;
  const double deviation = std::sqrt(raw_.variance() + coded_.variance());
  return deviation > 0 ? (raw_.mean_log() - coded_.mean_log()) / deviation : 0;
}

// What the other way takes longer than the way that rounds go now.
double MessageClass::part_slower() const {
  const double logs = raw_.mean_log() - coded_.mean_log();
  return std::max(0.0, std::exp(codes_ ? logs : -logs) - 1);
}

// Rounds from a trial to the next. While both ways may still be the faster one they are few, and
// none where compressed ones seem to be: a trial costs nothing then.
std::uint64_t MessageClass::pause() const {
  const double faster = deviations_faster();
  if (!codes_ && faster > kPromising) return std::uint64_t{4} * run_;
  if (trials_ == 1 && !codes_ && part_slower() < kMuch) return kSecond;
  const double pause = std::min(kPartOfTime * 2 * run_ * part_slower(), kLongestPause);
  auto rounds = static_cast<std::uint64_t>(pause);
  const std::uint32_t doublings = std::min(confirmed_, kMostConfirmed);
  if (codes_ && faster < kCertain) rounds = std::min(rounds, kConfirms << doublings);
  if (!codes_ && is_timed() && faster > -kDoubtful) rounds = std::min(rounds, kGrid << doublings);
  if (!is_timed()) rounds = kGrid << std::min(trials_, kMostConfirmed);
  const std::uint64_t least = std::max(kGrid, std::uint64_t{16} * (run_ - 1));
  return std::bit_ceil(std::max(rounds, least));
}

void MessageClass::end_trial() {
  is_on_trial_ = false;
  ++trials_;
  const bool before = codes_;
  const bool are_few = std::min(raw_.number(), coded_.number()) < kFew;
  const double needed = before ? kGoesOn : are_few ? kBeginsOfFew : kBegins;
  if (!is_timed()) {  // nothing shrank
    due_ = next_multiple(position_, pause());
    return;
  }
  // A gain that rounds which now and then take long take back is none.
  const double most = (before ? kMostOfMean : kLeastGain) * raw_.mean();
  codes_ = deviations_faster() >= needed && coded_.mean() <= most;
  confirmed_ = codes_ == before ? confirmed_ + 1 : 0;
  due_ = next_multiple(position_, pause());
}

bool MessageClass::begins_round(const Foreseen& foreseen, std::uint64_t waits) {
  const bool begins = messages_ == 0 || waits != waits_ || together_ == kMostTogether ||
                      foreseen.pays != is_foreseen_;
  ++messages_;
  waits_ = waits;
  is_foreseen_ = foreseen.pays;
  together_ = begins ? 1 : together_ + 1;
  return begins;
}

MessageTurn MessageClass::turn_of_round(const Foreseen& foreseen) {
  if (is_on_trial_ && position_ >= began_ + std::uint64_t{4} * run_) end_trial();
  if (!foreseen.pays) {
    if (is_on_trial_) due_ = next_multiple(position_ + 1, kGrid);
    is_on_trial_ = false;
    return {};
  }
  if (!is_on_trial_ && is_due(foreseen)) begin_trial(foreseen);
  if (!is_on_trial_) return {.is_coded = codes_};
  const std::uint64_t run = (position_ - began_) / run_;
  return {.is_coded = run == 1 || run == 2, .is_trial = true};
}

MessageTurn MessageClass::next(const Foreseen& foreseen, std::uint64_t nanoseconds,
                               std::uint64_t waits) {
  const DefaultFloatMode mode;
  if (!begins_round(foreseen, waits)) return last_turn_;
  note_time(nanoseconds);
  last_turn_ = turn_of_round(foreseen);
  ++position_;
  return last_turn_;
}

double MessageClass::saving() const {
  const double a_round = raw_.mean() - coded_.mean();
  return frames_ > 0 ? a_round * rounds_ / frames_ : a_round;
}

}  // namespace thinwire::plan
