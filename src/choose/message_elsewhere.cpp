// Steps whose time tells of messages that went in other steps, or of those that came.
#include <optional>
#include <utility>

#include "choose/message_kind.h"

namespace thinwire::choose {
namespace {

// Standard deviations by which a timing round confirms a look.
constexpr double kConfirmed = 1;

}  // namespace

// Steps that were to be compressed and had no frame tell nothing, and neither do those after them.
void MessageKind::note_paid_later(bool went_coded) {
  const bool are_known = went_coded == last_turn_.is_coded && was_coded_ == was_turned_coded_;
  if (is_in_round_ && round_.lag == 0 && are_known && !came_.decides())
    paid_later_.add(last_took_, went_coded, was_coded_);
  was_coded_ = went_coded;
  was_turned_coded_ = last_turn_.is_coded;
}

// Times so far told of other steps than those that they were counted for.
bool MessageKind::begin_anew_with_lag() {
  if (round_.lag > 0 || paid_later_.is_found() || !paid_later_.find(codes_)) return false;
  begin_anew();
  return true;
}

// Timing rounds, glances and looks.
void MessageKind::end_trials() {
  is_in_round_ = has_glanced_ = false;
  glance_.end();
  look_.give_up();
}

void MessageKind::begin_anew() {
  times_ = {};
  changed_.begin({}, 0);
  is_asked_for_ = is_long_ = false;
  confirmed_ = 0;
  due_ = next_multiple(position_, kRoundGrid);
}

// The step before has ended. Timing rounds and looks at a step's own way tell nothing once what
// came decides, and no more than before once nothing comes.
void MessageKind::note_came_to_step() {
  const bool is_known = !last_turn_.is_coded || frames_of_step_ > 0;
  came_.end_step(took_alone_, is_known ? std::optional(last_turn_.is_coded) : std::nullopt);
  const bool begins = position_ % kRoundGrid == 0 && came_.find();
  if (!begins && !came_.end_if_over(codes_)) return;
  end_trials();
  is_late_ = is_suspected_ = false;
  begin_anew();
  if (begins) times_ = came_.times();
}

// A look found the other way faster, or a timing round did not confirm it (`is_late`). Messages go
// raw at once, and a timing round follows, with a lag if they are late.
void MessageKind::suspect(bool is_late) {
  was_coded_before_look_ = codes_;
  is_suspected_ = !is_late;
  is_late_ = is_late;
  codes_ = false;
  has_glanced_ = is_late;
  glance_ = {};  // none came before the timing round that follows
  begin_anew();
}

// After a timing round. Messages are late unless one without a lag finds what a look found, too;
// and they are not if one with a lag finds what was found before the look.
bool MessageKind::begins_anew_late() {
  if (is_late_ && codes_ == was_coded_before_look_) is_late_ = false;
  if (!std::exchange(is_suspected_, false)) return false;
  const double faster = times_.deviations_faster();
  if ((was_coded_before_look_ ? -faster : faster) >= kConfirmed) return false;
  codes_ = was_coded_before_look_;
  suspect(true);
  return true;
}

// Whether the next step belongs to a look.
bool MessageKind::is_of_look() {
  if (came_.decides()) return false;
  const bool is_free = !is_in_round_ && !glance_.is_on() && lag() < look_.lag();
  const bool is_found = look_.is_on() && !look_.is_other(position_) && look_.is_other_faster();
  if (look_.is_on() && (is_found || look_.is_over(position_))) {
    look_.end(position_);
    if (is_found) suspect(false);
  } else if (!look_.is_on() && is_free && rounds_ > 0 && times_.are_timed() &&
             look_.is_due(position_, codes_, times_.part_slower(codes_))) {
    look_.begin(position_);
  }
  return look_.is_on();
}

}  // namespace thinwire::choose
