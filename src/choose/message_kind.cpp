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

// A kind that has its first timing round with the program's word for a link's rate.
constexpr std::uint64_t kFirstOfStated = 16;
// Timing rounds of several ranks that are not paid for yet are to meet.
constexpr std::uint64_t kUnpaidGrid = 16;
// Timing rounds that may have told nothing (choose/message_rounds.cpp).
constexpr std::uint32_t kAwaited = 2;

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
    came_ = all.came_;
    is_late_ = all.is_late_;
    was_coded_before_look_ = all.was_coded_before_look_;
  }
}

// Messages in flight, in steps. One that came belongs to the step in which it came.
std::uint64_t MessageKind::lag() const {
  if (came_.decides()) return 0;
  const std::uint64_t near = alternation_.is_on() ? 2 : paid_later_.is_found() ? 1 : 0;
  return std::max(lag_.steps(), is_late_ ? look_.lag() : near);
}

// The step before ends with this one.
void MessageKind::note_time(std::uint64_t nanoseconds) {
  const double took = static_cast<double>(nanoseconds - std::min(last_, nanoseconds));
  const double took_before = std::exchange(took_alone_, took);
  last_took_ = alternation_.is_on() ? (took + took_before) / 2 : took;
  last_ = nanoseconds;
  if (position_ == 0) return;  // there was none
  if (position_ > 1) note_came_to_step();
  const std::uint64_t lag = is_in_round_ ? round_.lag : this->lag();
  if (frames_of_step_ > 0) frame_at_ = position_;
  in_row_ = last_turn_.is_coded == before_.is_coded ? in_row_ + 1 : 1;
  before_ = last_turn_;
  // The program waits in the step for a message of `lag` steps before.
  bool is_timed = in_row_ > lag;
  bool went_coded = last_turn_.is_coded && frame_at_ + lag >= position_;
  bool went_raw = !last_turn_.is_coded;
  if (went_raw || (last_turn_.is_coded && frame_at_ + look_.lag() >= position_))
    look_.add(took, last_turn_.is_coded, in_row_);
  if (!codes_ && position_ > 1) price_.add(took, went_raw ? in_row_ : 0);
  note_paid_later(went_coded);
  if (came_.decides()) {
    is_timed = !came_.is_unknown();
    went_coded = came_.was_coded();
    went_raw = came_.was_raw();
  }
  glance_.add(position_ - 1, last_took_, is_timed && last_turn_.is_coded == codes_, lag);
  if (last_turn_.is_in_round || !is_timed) alternation_.end();
  if (!last_turn_.is_in_round && position_ > 1) alternation_.add(took);
  if (went_raw && position_ > 1) longest_raw_ = std::max(last_took_, kLately * longest_raw_);
  if (is_in_round_) note_cost();
  if (is_in_round_ && is_timed && (went_raw || went_coded)) add_time(went_coded);
  changed_.pass(last_took_);
  note_usual(is_timed && !last_turn_.is_in_round && (codes_ ? went_coded : went_raw));
  count_frames();
}

void MessageKind::add_time(bool is_coded) {
  times_.add(last_took_, is_coded, static_cast<double>(round_.run), round_.lag > 0);
}

void MessageKind::forget_times(const Foreseen& foreseen) {
  times_ = {};
  paid_later_.forget();
  price_.forget();
  changed_.begin({}, 0);
  confirmed_ = 0;
  gain_ = foreseen.gain();
  due_ = next_multiple(position_, kAskedGrid);
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

bool MessageKind::is_due(const Foreseen& foreseen) {
  const bool is_asked_for = changed_.ask_for_round();
  is_asked_for_ = is_asked_for_ || is_asked_for;
  if (is_asked_for) is_long_ = changed_.ask_for_long_round();
  if (is_asked_for || has_shifted(foreseen)) forget_times(foreseen);
  // First timing rounds tell little of steps by turns.
  const bool is_early = !codes_ && rounds_ <= kAwaited;
  if (due_ != 0 && position_ >= due_ && is_early && alternation_.may_begin())
    due_ = next_multiple(position_ + 1, kRoundGrid);
  if (due_ != 0 && position_ >= due_ && !codes_ && !is_asked_for_ && !price_.is_paid())
    due_ = next_multiple(position_ + 1, kUnpaidGrid);
  if (due_ != 0) return position_ >= due_;
  // The first step opens connections, the second is the timing round's first.
  if (!lag_.is_known() || position_ <= lag() || alternation_.may_begin()) return false;
  return codes_ ? position_ >= kFirstOfStated : position_ >= 2 && position_ % 2 == 0;
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
    end_trials();
    return {};
  }
  if (is_of_look()) return {.is_coded = look_.is_other(position_) != codes_, .is_in_round = true};
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
