#include "coding/classes.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace thinwire::nccl {
namespace {

// As many trials as show how much calls of a class differ; then ever fewer, as each costs an encode
// and some rank may never make such calls.
constexpr std::uint64_t kFirstTrials = 4;
constexpr std::uint64_t kWhileUndecided = 32;
// Of a class that did not get smaller: data changes its nature seldom.
constexpr std::uint64_t kWhileRaw = 256;

}  // namespace

bool Class::wants_trial(std::uint16_t reason) {
  const std::uint64_t call = raw_calls_++;
  if (reason == agree::kNotSmaller) return call % kWhileRaw == kWhileRaw - 1;
  return call < kFirstTrials || (call >= kWhileUndecided && std::has_single_bit(call));
}

// Which of a probation's calls this one is. Numbers of probations go up with those of calls, but
// where calls are taken back.
std::uint64_t Class::position_in(std::uint16_t probation) {
  constexpr std::size_t kKept = 8;
  while (!begun_.empty() && begun_.back().probation > probation) begun_.pop_back();
  if (begun_.empty() || begun_.back().probation < probation) begun_.push_back({probation, turns_});
  if (begun_.size() > kKept) begun_.erase(begun_.begin());
  return turns_++ - begun_.back().turn;
}

Turn Class::turn(const agree::Value& value, bool once) {
  Turn turn{.codes = value.codes};
  const std::uint64_t position = position_in(value.probation);
  if (value.probation > value.decided) {
    const auto place = [&](std::uint64_t at) {
      return plan::place_in_probation(at, value.probation, value.calls);
    };
    turn.is_before_timed = place(position + 1).is_timed;
    const plan::ProbationPlace here = place(position);
    if (!here.is_timed) return turn;
    turn.codes = here.is_other_way != value.codes;
    turn.probation = value.probation;
    turn.calls = value.calls;
    return turn;
  }
  if (!guarded_) return turn;
  if (value.decided != last_.decided) {
    confirmed_ = last_.decided != 0 && last_.codes == value.codes ? confirmed_ + 1 : 0;
    last_ = value;
    turn.news = &last_;
    next_ask_ = turns_ + plan::calls_between({value.raw_ns, value.coded_ns}, value.calls,
                                             confirmed_, value.decided == 1);
  }
  if (once) return turn;
  turn.asks = turns_ == next_ask_;
  const std::uint64_t to_watched = plan::calls_to_a_watched_one(confirmed_);
  turn.is_before_timed = (turns_ + 1) % to_watched == 0;
  if (turns_ % to_watched == 0) {
    turn.probation = value.decided;
    turn.took = {value.raw_ns, value.coded_ns};
  }
  return turn;
}

// 64-bit FNV-1a of their numbers, each taken as one unit: both ends compute it.
bool Class::made(std::uint64_t call) {
  if (compared_ == 0) return false;
  first_calls_ = (first_calls_ ^ call) * 0x100000001B3U;
  return --compared_ == 0;
}

void Class::compare() {
  withheld_ = false;
  own_.first_calls = first_calls_;
  if (has_offer_) offer();
}

void Class::end_group() {
  if (grouped_ > span_.load(std::memory_order_relaxed)) span_ = grouped_;
  grouped_ = 0;
}

void Class::offer() {
  has_offer_ = true;
  if (withheld_) return;
  own_.span = static_cast<std::uint16_t>(std::min(span_.load(), std::uint32_t{UINT16_MAX}));
  channel_->offer(key_, own_);
}

void Class::measured(std::uint32_t needed, bool again) {
  if (vetoed_) return;
  const auto offered = needs_.take(needed, again);
  if (!offered) return;
  own_.needed = *offered;
  offer();
}

void Class::watch(const Turn& turn, std::uint64_t nanoseconds) {
  if (nanoseconds == 0) return;
  if (watched_ == 0) watched_times_ = {};
  watched_times_.add(nanoseconds);
  if (++watched_ < plan::kWatched) return;
  watched_ = 0;
  if (plan::is_overtaken(watched_times_.get(), turn.took, turn.codes)) ask(turn.probation);
}

void Class::timed(const Turn& turn, std::uint64_t nanoseconds) {
  if (turn.calls == 0) return watch(turn, nanoseconds);
  watched_ = 0;
  if (turn.probation != seen_.probation) seen_ = {.probation = turn.probation};
  seen_.times[turn.codes ? 1 : 0].add(nanoseconds);
  if (++seen_.calls != 2U * turn.calls || vetoed_) return;
  own_.timed = turn.probation;
  own_.raw_ns = seen_.times[0].get();
  own_.coded_ns = seen_.times[1].get();
  offer();
}

void Class::ask(std::uint16_t probation) {
  if (vetoed_ || own_.asks > probation) return;
  own_.asks = static_cast<std::uint16_t>(probation + 1);
  offer();
}

void Class::veto(std::uint16_t reason) {
  if (std::exchange(vetoed_, true)) return;
  own_.needed = 0;
  own_.veto = reason;
  offer();
}

}  // namespace thinwire::nccl
