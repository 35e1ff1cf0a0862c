#include "agree/round.h"

#include <algorithm>
#include <utility>

namespace thinwire::nccl::agree {
namespace {

// Joins two ranks' offers. Of vetoes the lower number counts, so that the order in which they came
// does not matter. What was timed counts after all have come past the same timing round.
Offer both(const Offer& one, const Offer& other) {
  Offer made;
  made.needed = std::max(one.needed, other.needed);
  made.veto = std::min(one.veto, other.veto);
  if (made.veto == 0) made.veto = std::max(one.veto, other.veto);
  made.asks = std::max(one.asks, other.asks);
  made.span = std::max(one.span, other.span);
  made.timed = std::min(one.timed, other.timed);
  made.times = choose::slower(one.times, other.times);
  made.dtype = one.dtype;  // of a pair the sender's, which is the root
  return made;
}

// Whether calls that go on as they do may not fit their slots.
bool is_urgent(const Value& in_force, const Value& next) {
  if (in_force.capacity == 0) return false;
  return next.capacity == 0 || next.capacity > in_force.capacity;
}

std::uint64_t window_of(bool is_urgent) { return is_urgent ? kUrgentWindow : kWindow; }

}  // namespace

void Rounds::start(Way way) {
  way_ = std::move(way);
  for (auto& [key, of] : kinds_) {
    of.said.reset();
    pass_on(key, of);
  }
}

// The ranks that have left made no call that a value under way would be for: a rank chooses its
// limit beyond all calls that it makes before it has the value.
void Rounds::stop() {
  stopped_ = true;
  for (auto& [key, of] : kinds_) {
    if (std::exchange(of.running, false) && ledger_ != nullptr) ledger_->release(key);
  }
}

void Rounds::explain(std::uint16_t reason) {
  reason_ = reason;
  for (auto& [key, of] : kinds_) {
    if (of.own && !way_) ledger_->commit(key, 0, {0, reason_});
  }
}

void Rounds::join(Say siblings) {
  siblings_ = std::move(siblings);
  for (auto& [key, of] : kinds_) {
    if (agree::is_joined(key)) pass_on(key, of);
  }
}

void Rounds::part() {
  siblings_ = {};
  for (auto& [key, of] : kinds_) {
    if (!agree::is_joined(key)) continue;
    if (of.running) answered(key, of);
    // Answers of children to a look that come later are for nobody.
    if (std::exchange(of.looks, false)) ++of.round;
  }
}

void Rounds::drop(int child) {
  if (stopped_ || !dropped_.insert(child).second) return;
  for (auto& [key, of] : kinds_) {
    of.of_children.erase(child);
    if (of.awaited.erase(child) > 0) answered(key, of);
    pass_on(key, of);
  }
}

const Rounds::Say* Rounds::above(std::uint64_t key) const {
  if (way_->up) return &way_->up;
  return agree::is_joined(key) && siblings_ ? &siblings_ : nullptr;
}

bool Rounds::decides(std::uint64_t key) const {
  return !way_->up && agree::is_joined(key) == (ledger_ == nullptr);
}

void Rounds::offer(std::uint64_t key, Offer offer) {
  Kind& of = kinds_[key];
  const bool is_first = !std::exchange(of.own, offer);
  if (is_first && !way_ && reason_ != 0) ledger_->commit(key, 0, {0, reason_});
  pass_on(key, of);
}

Rounds::Kind* Rounds::known(std::uint64_t key) {
  const auto found = kinds_.find(key);
  if (found != kinds_.end()) return &found->second;
  return kinds_.size() < most_ ? &kinds_[key] : nullptr;
}

bool Rounds::take(int child, const Offered& offered) {
  if (stopped_) return true;
  if (!way_ || child < 0 || child >= way_->children) return false;
  if (dropped_.contains(child)) return true;
  Kind* const of = known(offered.key);
  if (of == nullptr) return false;
  of->of_children[child] = offered.offer;
  pass_on(offered.key, *of);
  return true;
}

std::optional<Offer> Rounds::of_subtree(const Kind& of) const {
  const std::size_t children = static_cast<std::size_t>(way_->children) - dropped_.size();
  if ((ledger_ != nullptr && !of.own) || of.of_children.size() < children) return std::nullopt;
  std::optional<Offer> all = of.own;
  for (const auto& [child, offer] : of.of_children) all = all ? both(*all, offer) : offer;
  return all;
}

void Rounds::pass_on(std::uint64_t key, Kind& of) {
  if (!way_ || stopped_) return;
  const std::optional<Offer> all = of_subtree(of);
  if (!all) return;
  if (decides(key)) {
    const Value next = decide(of.in_force, *all);
    if (of.running || next == of.in_force) return;
    if (is_urgent(of.in_force, next)) return begin(key, of, true);
    if (!of.looks) look(key, of);
    return;
  }
  const Say* const up = above(key);
  if (up == nullptr || of.said == all) return;
  of.said = all;
  (*up)(Offered{key, *all});
}

void Rounds::await_children(Kind& of) {
  of.awaited.clear();
  for (int child = 0; child < way_->children; ++child) {
    if (!dropped_.contains(child)) of.awaited.insert(child);
  }
}

void Rounds::freeze(std::uint64_t key, Kind& of, bool is_urgent) {
  of.running = true;
  of.looks = false;
  of.limit = ledger_ == nullptr ? 0 : ledger_->freeze(key, window_of(is_urgent));
}

// While a rank cannot be heard a round would hold hosts whose calls NCCL alone carries out, for as
// long as the network of the helpers is gone. What is urgent needs that network all the same.
void Rounds::look(std::uint64_t key, Kind& of) {
  of.looks = true;
  ++of.round;
  await_children(of);
  way_->down(Ask{key, of.round, false, true});
  answered(key, of);
}

void Rounds::looked(std::uint64_t key, Kind& of) {
  of.looks = false;
  const std::optional<Offer> all = of_subtree(of);
  if (!all) return;
  const Value next = decide(of.in_force, *all);
  if (!(next == of.in_force)) begin(key, of, is_urgent(of.in_force, next));
}

// May take the place of a look that is under way.
void Rounds::begin(std::uint64_t key, Kind& of, bool is_urgent) {
  of.is_urgent = is_urgent;
  ++of.round;
  freeze(key, of, is_urgent);
  await_children(of);
  way_->down(Ask{key, of.round, is_urgent});
  answered(key, of);
}

bool Rounds::take(const Ask& ask) {
  if (stopped_) return true;
  if (!way_ || above(ask.key) == nullptr) return false;
  Kind* const found = known(ask.key);
  if (found == nullptr) return false;
  Kind& of = *found;
  if (of.running || ask.round <= of.round) return false;
  of.round = ask.round;
  of.limit = 0;
  of.looks = ask.looks;
  if (!ask.looks) freeze(ask.key, of, ask.is_urgent);
  await_children(of);
  way_->down(ask);
  answered(ask.key, of);
  return true;
}

bool Rounds::take(int child, const Limit& limit) {
  if (stopped_ || dropped_.contains(child)) return true;
  if (!way_) return false;
  const auto found = kinds_.find(limit.key);
  if (found == kinds_.end()) return false;
  Kind& of = found->second;
  if (limit.round < of.round) return true;  // of a look that was given up
  const bool fits = (of.running || of.looks) && limit.round == of.round;
  if (!fits || of.awaited.erase(child) == 0) return false;
  of.limit = std::max(of.limit, limit.limit);
  answered(limit.key, of);
  return true;
}

void Rounds::answered(std::uint64_t key, Kind& of) {
  if (!of.awaited.empty()) return;
  if (const Say* const up = above(key)) return (*up)(Limit{key, of.round, of.limit});
  if (of.looks) return looked(key, of);
  // Offers that came since the round began count at once; what has become urgent has a round of its
  // own, after this one, that does not wait for 64 calls.
  const std::optional<Offer> all = of_subtree(of);
  if (decides(key) && all) {
    const Value next = decide(of.in_force, *all);
    if (of.is_urgent || !is_urgent(of.in_force, next)) of.in_force = next;
  }
  // Who joined it with its siblings' may have gone before anything was decided.
  if (of.in_force.reason == kUndecided) of.in_force = {0, kNotSmaller};
  finish(of, {key, of.round, of.limit, of.in_force});
  pass_on(key, of);
}

void Rounds::finish(Kind& of, const Commit& commit) {
  of.running = false;
  of.in_force = commit.value;
  way_->down(commit);
  if (ledger_ != nullptr) ledger_->commit(commit.key, commit.from, commit.value);
}

bool Rounds::take(const Commit& commit) {
  if (stopped_) return true;
  if (!way_ || above(commit.key) == nullptr) return false;
  const auto found = kinds_.find(commit.key);
  if (found == kinds_.end()) return false;
  Kind& of = found->second;
  const bool fits = of.running && of.awaited.empty() && commit.round == of.round &&
                    commit.from >= of.limit && may_be_decided(commit.value) &&
                    ledger_->steps(commit.key) < kMostSteps;
  if (!fits) return false;
  finish(of, commit);
  return true;
}

}  // namespace thinwire::nccl::agree
