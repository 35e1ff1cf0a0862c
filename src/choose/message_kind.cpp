#include "choose/message_kind.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/float_mode.h"

namespace thinwire::choose {
namespace {

constexpr double kMostFrames = 32;  // steps with them
constexpr std::uint64_t kAskedGrid = 4;
constexpr double kLately = 0.85;  // counts of a time after each step

// A program that sends more before it waits is taken for one that never does.
constexpr std::uint32_t kMostTogether = 64;

}  // namespace

MessageKind::MessageKind(const MessageKind& all, std::uint64_t messages) {
  if (all.messages_ == messages) {
    *this = all;
  } else {
    codes_ = all.codes_;
    lag_ = all.lag_;  // of its steps no more than of all peers' begin meanwhile
    lag_.drop();
    alternation_ = all.alternation_;
    paid_later_ = all.paid_later_;
  }
}

// Messages in flight, in steps.
std::uint64_t MessageKind::lag() const {
  const std::uint64_t unseen = alternation_.is_on() ? 2 : paid_later_.is_found() ? 1 : 0;
  return std::max(lag_.steps(), unseen);
}

// The step before ends with this one.
void MessageKind::note_time(std::uint64_t nanoseconds) {
  const double took = static_cast<double>(nanoseconds - std::min(last_, nanoseconds));
  const double took_before = std::exchange(took_alone_, took);
  last_took_ = alternation_.is_on() ? (took + took_before) / 2 : took;
  last_ = nanoseconds;
  if (position_ == 0) return;  // there was none
  const std::uint64_t lag = is_in_round_ ? round_.lag : this->lag();
  if (frames_of_step_ > 0) frame_at_ = position_;
  in_row_ = last_turn_.is_coded == before_.is_coded ? in_row_ + 1 : 1;
  before_ = last_turn_;
  // The program waits in the step for a message of `lag` steps before.
  const bool is_timed = in_row_ > lag;
  const bool went_coded = last_turn_.is_coded && frame_at_ + lag >= position_;
  const bool went_raw = !last_turn_.is_coded;
  glance_.add(position_ - 1, last_took_, is_timed && last_turn_.is_coded == codes_, lag);
  if (last_turn_.is_in_round || !is_timed) alternation_.end();
  if (!last_turn_.is_in_round && position_ > 1) alternation_.add(took);
  if (went_raw && position_ > 1) longest_raw_ = std::max(last_took_, kLately * longest_raw_);
  if (is_in_round_) note_cost();
  if (is_in_round_ && is_timed && (went_raw || went_coded)) add_time(went_coded);
  note_paid_later(went_coded);
  changed_.pass(last_took_);
  note_usual(is_timed && !last_turn_.is_in_round && (codes_ ? went_coded : went_raw));
  count_frames();
}

void MessageKind::add_time(bool is_coded) {
  times_.add(last_took_, is_coded, static_cast<double>(round_.run), round_.lag > 0);
}

// Steps that were to be compressed and had no frame tell nothing, and neither do those after them.
void MessageKind::note_paid_later(bool went_coded) {
  const bool are_known = went_coded == last_turn_.is_coded && was_coded_ == was_turned_coded_;
  if (is_in_round_ && round_.lag == 0 && are_known)
    paid_later_.add(last_took_, went_coded, was_coded_);
  was_coded_ = went_coded;
  was_turned_coded_ = last_turn_.is_coded;
}

void MessageKind::forget_times(const Foreseen& foreseen) {
  times_ = {};
  paid_later_.forget();
  changed_.begin({}, 0);
  confirmed_ = 0;
  gain_ = foreseen.gain();
  due_ = next_multiple(position_, kAskedGrid);
}

// Times of steps that told of other ones are none of these.
bool MessageKind::begin_anew_with_lag() {
  if (round_.lag > 0 || paid_later_.is_found() || !paid_later_.find(codes_)) return false;
  times_ = {};
  changed_.begin({}, 0);
  is_asked_for_ = is_long_ = false;
  confirmed_ = 0;
  due_ = next_multiple(position_, kRoundGrid);
  return true;
}

// As many steps count as one as in a timing round.
void MessageKind::note_usual(bool is_usual) {
  if (!is_usual) usual_ = {};
  if (!is_usual) return;
  usual_.add(last_took_);
  if (usual_.number() < static_cast<double>(lag())) return;
  changed_.note(usual_.mean());
  usual_ = {};
}

void MessageKind::note_cost() {
  if (last_turn_.is_coded != codes_) others_.add(last_took_);
}

void MessageKind::count_frames() {
  if (frames_of_step_ <= 0) return;
  if (steps_ >= kMostFrames) {
    steps_ /= 2;
    frames_ /= 2;
  }
  ++steps_;
  frames_ += std::exchange(frames_of_step_, 0);
}

bool MessageKind::begins_step(const Foreseen& foreseen, std::uint64_t waits) {
  const bool begins = messages_ == 0 || waits != waits_ || together_ == kMostTogether ||
                      foreseen.pays != is_foreseen_;
  ++messages_;
  waits_ = waits;
  is_foreseen_ = foreseen.pays;
  together_ = begins ? 1 : together_ + 1;
  return begins;
}

MessageTurn MessageKind::turn_of_step(const Foreseen& foreseen) {
  if (is_in_round_ && (round_.is_over(position_) || is_hopeless())) end_round();
  if (glance_.is_on() && glance_.is_over(position_)) end_glance();
  if (!foreseen.pays) {
    if (last_turn_.is_in_round) due_ = next_multiple(position_ + 1, kRoundGrid);
    is_in_round_ = has_glanced_ = false;
    glance_.end();
    return {};
  }
  if (!is_in_round_ && !glance_.is_on() && is_due(foreseen)) begin_glance_or_round(foreseen);
  if (glance_.is_on())
    return {.is_coded = glance_.is_other(position_) != codes_, .is_in_round = true};
  if (!is_in_round_) return {.is_coded = codes_};
  return {.is_coded = round_.is_coded(position_), .is_in_round = true};
}

MessageTurn MessageKind::next(const Foreseen& foreseen, std::uint64_t nanoseconds,
                              std::uint64_t waits) {
  const DefaultFloatMode mode;
  lag_.pass(position_);
  if (!begins_step(foreseen, waits)) return last_turn_;
  note_time(nanoseconds);
  last_turn_ = turn_of_step(foreseen);
  ++position_;
  return last_turn_;
}

void MessageKind::end_watch(double under_way) {
  const DefaultFloatMode mode;
  const double of_step = static_cast<double>(messages_) / static_cast<double>(position_);
  lag_.end(under_way / of_step, position_ - 1);
}

double MessageKind::saving() const {
  const double a_step = times_.raw().mean() - times_.coded().mean();
  return frames_ > 0 ? a_step * steps_ / frames_ : a_step;
}

}  // namespace thinwire::choose
