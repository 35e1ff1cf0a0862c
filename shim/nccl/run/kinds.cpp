#include "run/kinds.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace thinwire::nccl {
namespace {

// As many sample encodes as show how much calls of a kind differ; then ever fewer, as each costs an
// encode and some rank may never make such calls.
constexpr std::uint64_t kFirstTrials = 4;
constexpr std::uint64_t kWhileUndecided = 32;
// Messages that are compared, whose types may take turns.
constexpr std::uint64_t kCompared = 8;

}  // namespace

void Kind::note_type(std::uint32_t dtype) {
  alike_ = dtype == dtype_ ? alike_ + 1 : 1;
  dtype_ = dtype;
  ++messages_;
}

bool Kind::is_of_one_type() const {
  if (messages_ == 0 || alike_ >= kWhileRaw) return true;
  return alike_ == messages_ && messages_ >= kCompared;
}

bool Kind::wants_sample(std::uint16_t reason) {
  const std::uint64_t call = raw_calls_++;
  if (reason == agree::kNotSmaller) {
    if (++not_smaller_ < to_sample_.load(std::memory_order_relaxed)) return false;
    not_smaller_ = 0;
    return true;
  }
  return call < kFirstTrials || (call >= kWhileUndecided && std::has_single_bit(call));
}

bool Kind::looks_for_memory() {
  if (!vetoed_ || left_ || ++short_ < to_look_) return false;
  short_ = 0;
  to_look_ = std::min(2 * to_look_, kMostShort);
  return true;
}

// Which of a timing round's calls this one is. Numbers of timing rounds go up with those of calls,
// but if calls are taken back.
std::uint64_t Kind::position_in(std::uint16_t timing_round) {
  constexpr std::size_t kKept = 8;
  while (!begun_.empty() && begun_.back().timing_round > timing_round) begun_.pop_back();
  if (begun_.empty() || begun_.back().timing_round < timing_round)
    begun_.push_back({timing_round, turns_});
  if (begun_.size() > kKept) begun_.erase(begun_.begin());
  return turns_++ - begun_.back().turn;
}

Turn Kind::turn(const agree::Value& value, bool once) {
  Turn turn{.codes = value.codes};
  const std::uint64_t position = position_in(value.timing_round);
  if (value.timing_round > value.decided) {
    const auto place = [&](std::uint64_t at) {
      return choose::position_in_round(at, value.timing_round, value.calls);
    };
    turn.is_before_timed = place(position + 1).is_timed;
    turn.begins = position == 0;
    const choose::RoundPosition here = place(position);
    if (!here.is_timed) return turn;
    turn.codes = here.is_other_way != value.codes;
    turn.timing_round = value.timing_round;
    turn.calls = value.calls;
    return turn;
  }
  if (!guarded_) return turn;
  if (value.decided != last_.decided) {
    confirmed_ = last_.decided != 0 && last_.codes == value.codes ? confirmed_ + 1 : 0;
    last_ = value;
    turn.news = &last_;
    next_ask_ =
        turns_ + choose::calls_between(value.times, value.calls, confirmed_, value.decided == 1);
  }
  if (once) return turn;
  turn.asks = turns_ == next_ask_;
  const std::uint64_t to_watched = choose::calls_to_a_watched_one(confirmed_);
  turn.is_before_timed = (turns_ + 1) % to_watched == 0;
  if (turns_ % to_watched == 0) {
    turn.timing_round = value.decided;
    turn.took = value.times;
  }
  return turn;
}

void Kind::end_group() {
  if (grouped_ > span_.load(std::memory_order_relaxed)) span_ = grouped_;
  grouped_ = 0;
}

void Kind::offer() {
  own_.span = static_cast<std::uint16_t>(std::min(span_.load(), std::uint32_t{UINT16_MAX}));
  owes_offer_.store(true, std::memory_order_relaxed);
  channel_->offer(key_, own_);
  owes_offer_.store(false, std::memory_order_relaxed);
}

void Kind::measured(std::uint32_t needed, bool again, std::uint32_t dtype) {
  if (vetoed_) return;
  take_need(needs_.take(needed, again), dtype);
}

void Kind::spills() {
  if (!vetoed_) take_need(needs_.spill(), own_.dtype);
}

void Kind::take_need(std::optional<std::uint16_t> offered, std::uint32_t dtype) {
  to_sample_.store(kWhileRaw << needs_.times_in_vain(), std::memory_order_relaxed);
  if (!offered) return;
  own_.needed = *offered;
  own_.dtype = static_cast<std::uint8_t>(dtype);
  offer();
}

void Kind::watch(const Turn& turn, std::uint64_t nanoseconds) {
  if (nanoseconds == 0) return;
  if (watched_ == 0) watched_times_ = {};
  watched_times_.add(turn.codes, nanoseconds);
  if (++watched_ < choose::kWatched) return;
  watched_ = 0;
  if (choose::is_overtaken(watched_times_.get(), turn.took, turn.codes)) ask(turn.timing_round);
}

void Kind::timed(const Turn& turn, std::uint64_t nanoseconds) {
  if (turn.calls == 0) return watch(turn, nanoseconds);
  watched_ = 0;
  if (turn.timing_round != seen_.timing_round) seen_ = {.timing_round = turn.timing_round};
  seen_.times.add(turn.codes, nanoseconds);
  if (++seen_.calls != 2U * turn.calls) return;
  own_.timed = turn.timing_round;
  own_.times = seen_.times.get();
  // Under a veto it is offered with the veto's end: nobody times that round again.
  if (!vetoed_) offer();
}

void Kind::ask(std::uint16_t timing_round) {
  if (own_.asks > timing_round) return;
  own_.asks = static_cast<std::uint16_t>(timing_round + 1);
  if (!vetoed_) offer();
}

void Kind::veto(std::uint16_t reason) {
  if (std::exchange(vetoed_, true)) return;
  own_.needed = 0;
  own_.veto = reason;
  offer();
}

void Kind::leave_to_nccl(std::uint16_t reason) {
  since_left_ = 0;
  if (std::exchange(left_, true)) return;
  vetoed_ = true;
  own_.needed = 0;
  own_.veto = reason;
  offer();
}

void Kind::come_back() {
  constexpr unsigned kMostTimes = 10;
  came_back_ = std::min(came_back_ + 1, kMostTimes);
  left_ = false;
  suspend_veto();
}

void Kind::suspend_veto() { vetoed_ = false; }

void Kind::lift_veto() {
  if (vetoed_ || own_.veto == 0) return;
  own_.veto = 0;
  own_.needed = needs_.offered();
  if (needs_.has_offered()) offer();
}

}  // namespace thinwire::nccl
