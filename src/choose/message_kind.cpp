#include "choose/message_kind.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/float_mode.h"

namespace thinwire::choose {
namespace {

constexpr double kMostFrames = 32;  // rounds with them

// A program that sends more before it waits is taken for one that never does.
constexpr std::uint32_t kMostTogether = 64;

}  // namespace

MessageClass::MessageClass(const MessageClass& all, std::uint64_t messages) {
  if (all.messages_ == messages) {
    *this = all;
  } else {
    codes_ = all.codes_;
    lag_ = all.lag_;  // of its rounds no more than of all peers' begin meanwhile
    lag_.drop();
  }
}

// Of the round before, which ends with this one.
void MessageClass::note_time(std::uint64_t nanoseconds) {
  last_took_ = static_cast<double>(nanoseconds - std::min(last_, nanoseconds));
  last_ = nanoseconds;
  if (position_ == 0) return;  // there was none
  const std::uint64_t lag = is_on_trial_ ? trial_.lag : lag_.rounds();
  if (frames_of_round_ > 0) frame_at_ = position_;
  in_row_ = last_turn_.is_coded == before_.is_coded ? in_row_ + 1 : 1;
  before_ = last_turn_;
  // What is waited for in the round is a message of `lag` rounds before.
  const bool is_timed = in_row_ > lag;
  const bool went_coded = last_turn_.is_coded && frame_at_ + lag >= position_;
  const bool went_raw = !last_turn_.is_coded;
  if (last_turn_.is_trial) note_cost();
  if (last_turn_.is_trial && is_timed && (went_raw || went_coded)) add_time(went_coded);
  changed_.pass(last_took_);
  note_settled(is_timed && !last_turn_.is_trial && (codes_ ? went_coded : went_raw));
  count_frames();
}

void MessageClass::add_time(bool is_coded) {
  times_.add(last_took_, is_coded, static_cast<double>(trial_.run), trial_.lag > 0);
}

// As many rounds count as one as in a trial.
void MessageClass::note_settled(bool is_usual) {
  if (!is_usual) settled_ = {};
  if (!is_usual) return;
  settled_.add(last_took_);
  if (settled_.number() < static_cast<double>(lag_.rounds())) return;
  changed_.note(settled_.mean());
  settled_ = {};
}

void MessageClass::note_cost() {
  if (last_turn_.is_coded != codes_) others_.add(last_took_);
}

void MessageClass::count_frames() {
  if (frames_of_round_ <= 0) return;
  if (rounds_ >= kMostFrames) {
    rounds_ /= 2;
    frames_ /= 2;
  }
  ++rounds_;
  frames_ += std::exchange(frames_of_round_, 0);
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
  if (is_on_trial_ && (trial_.is_over(position_) || is_hopeless())) end_trial();
  if (!foreseen.pays) {
    if (is_on_trial_) due_ = next_multiple(position_ + 1, kTrialGrid);
    is_on_trial_ = false;
    return {};
  }
  if (!is_on_trial_ && is_due(foreseen)) begin_trial(foreseen);
  if (!is_on_trial_) return {.is_coded = codes_};
  return {.is_coded = trial_.is_coded(position_), .is_trial = true};
}

MessageTurn MessageClass::next(const Foreseen& foreseen, std::uint64_t nanoseconds,
                               std::uint64_t waits) {
  const DefaultFloatMode mode;
  lag_.pass(position_);
  if (!begins_round(foreseen, waits)) return last_turn_;
  note_time(nanoseconds);
  last_turn_ = turn_of_round(foreseen);
  ++position_;
  return last_turn_;
}

void MessageClass::end_watch(double under_way) {
  const DefaultFloatMode mode;
  const double of_round = static_cast<double>(messages_) / static_cast<double>(position_);
  lag_.end(under_way / of_round, position_ - 1);
}

double MessageClass::saving() const {
  const double a_round = times_.raw().mean() - times_.coded().mean();
  return frames_ > 0 ? a_round * rounds_ / frames_ : a_round;
}

}  // namespace thinwire::choose
