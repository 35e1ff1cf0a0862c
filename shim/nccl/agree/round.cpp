#include "agree/round.h"

#include <algorithm>
#include <utility>

namespace thinwire::nccl::agree {
namespace {

// Of two ranks' vetoes the lower number, so that the order in which they came does not matter. What
// was timed counts once all have come past the same probation.
Offer both(const Offer& one, const Offer& other) {
  Offer made;
  made.needed = std::max(one.needed, other.needed);
  made.veto = std::min(one.veto, other.veto);
  if (made.veto == 0) made.veto = std::max(one.veto, other.veto);
  made.asks = std::max(one.asks, other.asks);
  made.span = std::max(one.span, other.span);
  made.timed = std::min(one.timed, other.timed);
  made.raw_ns = std::max(one.raw_ns, other.raw_ns);
  made.coded_ns = std::max(one.coded_ns, other.coded_ns);
  made.raw_mean_ns = std::max(one.raw_mean_ns, other.raw_mean_ns);
  made.coded_mean_ns = std::max(one.coded_mean_ns, other.coded_mean_ns);
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
  for (auto& [key, of] : classes_) {
    of.said.reset();
    pass_on(key, of);
  }
}

// The ranks that have left made no call that a value under way would be for: a rank chooses its
// limit beyond all calls that it makes before it has the value.
void Rounds::stop() {
  stopped_ = true;
  for (auto& [key, of] : classes_) {
    if (std::exchange(of.running, false)) ledger_.release(key);
  }
}

void Rounds::explain(std::uint16_t reason) {
  reason_ = reason;
  for (auto& [key, of] : classes_) {
    if (of.own && !way_) ledger_.commit(key, 0, {0, reason_});
  }
}

void Rounds::offer(std::uint64_t key, Offer offer) {
  Class& of = classes_[key];
  const bool is_first = !std::exchange(of.own, offer);
  if (is_first && !way_ && reason_ != 0) ledger_.commit(key, 0, {0, reason_});
  pass_on(key, of);
}

Rounds::Class* Rounds::known(std::uint64_t key) {
  const auto found = classes_.find(key);
  if (found != classes_.end()) return &found->second;
  return classes_.size() < most_ ? &classes_[key] : nullptr;
}

bool Rounds::take(int child, const Offered& offered) {
  if (stopped_) return true;
  if (!way_ || child < 0 || child >= way_->children) return false;
  Class* const of = known(offered.key);
  if (of == nullptr) return false;
  of->of_children[child] = offered.offer;
  pass_on(offered.key, *of);
  return true;
}

std::optional<Offer> Rounds::of_subtree(const Class& of) const {
  if (!of.own || static_cast<int>(of.of_children.size()) < way_->children) return std::nullopt;
  Offer all = *of.own;
  for (const auto& [child, offer] : of.of_children) all = both(all, offer);
  return all;
}

void Rounds::pass_on(std::uint64_t key, Class& of) {
  if (!way_ || stopped_) return;
  const std::optional<Offer> all = of_subtree(of);
  if (!all) return;
  if (!way_->up) {
    const Value next = decide(of.in_force, *all);
    if (of.running || next == of.in_force) return;
    if (is_urgent(of.in_force, next)) return begin(key, of, true);
    if (!of.looks) look(key, of);
    return;
  }
  if (of.said == all) return;
  of.said = all;
  way_->up(Offered{key, *all});
}

// While a rank cannot be heard a round would hold hosts whose calls NCCL alone carries out, for as
// long as the network of the helpers is gone. What is urgent needs that network all the same.
void Rounds::look(std::uint64_t key, Class& of) {
  of.looks = true;
  ++of.round;
  of.awaited = way_->children;
  way_->down(Ask{key, of.round, false, true});
  answered(key, of);
}

void Rounds::looked(std::uint64_t key, Class& of) {
  of.looks = false;
  const Value next = decide(of.in_force, *of_subtree(of));
  if (!(next == of.in_force)) begin(key, of, is_urgent(of.in_force, next));
}

// May take the place of a look that is under way.
void Rounds::begin(std::uint64_t key, Class& of, bool is_urgent) {
  of.running = true;
  of.looks = false;
  of.is_urgent = is_urgent;
  ++of.round;
  of.limit = ledger_.freeze(key, window_of(is_urgent));
  of.awaited = way_->children;
  way_->down(Ask{key, of.round, is_urgent});
  answered(key, of);
}

bool Rounds::take(const Ask& ask) {
  if (stopped_) return true;
  if (!way_ || !way_->up) return false;
  Class* const found = known(ask.key);
  if (found == nullptr) return false;
  Class& of = *found;
  if (of.running || ask.round <= of.round) return false;
  of.running = !ask.looks;
  of.looks = ask.looks;
  of.round = ask.round;
  of.limit = ask.looks ? 0 : ledger_.freeze(ask.key, window_of(ask.is_urgent));
  of.awaited = way_->children;
  way_->down(ask);
  answered(ask.key, of);
  return true;
}

bool Rounds::take(const Limit& limit) {
  if (stopped_) return true;
  if (!way_) return false;
  const auto found = classes_.find(limit.key);
  if (found == classes_.end()) return false;
  Class& of = found->second;
  if (limit.round < of.round) return true;  // of a look that was given up
  if (!(of.running || of.looks) || of.awaited == 0 || limit.round != of.round) return false;
  of.limit = std::max(of.limit, limit.limit);
  --of.awaited;
  answered(limit.key, of);
  return true;
}

void Rounds::answered(std::uint64_t key, Class& of) {
  if (of.awaited != 0) return;
  if (way_->up) {
    way_->up(Limit{key, of.round, of.limit});
    return;
  }
  if (of.looks) return looked(key, of);
  // What has been offered since the round began counts at once; what has become urgent has a round
  // of its own, behind this one, that waits for no 64 calls.
  const Value next = decide(of.in_force, *of_subtree(of));
  if (of.is_urgent || !is_urgent(of.in_force, next)) of.in_force = next;
  of.running = false;
  const Commit commit{key, of.round, of.limit, of.in_force};
  way_->down(commit);
  ledger_.commit(key, commit.from, commit.value);
  pass_on(key, of);
}

bool Rounds::take(const Commit& commit) {
  if (stopped_) return true;
  if (!way_ || !way_->up) return false;
  const auto found = classes_.find(commit.key);
  if (found == classes_.end()) return false;
  Class& of = found->second;
  const bool fits = of.running && of.awaited == 0 && commit.round == of.round &&
                    commit.from >= of.limit && may_be_decided(commit.value) &&
                    ledger_.steps(commit.key) < kMostSteps;
  if (!fits) return false;
  of.running = false;
  way_->down(commit);
  ledger_.commit(commit.key, commit.from, commit.value);
  return true;
}

}  // namespace thinwire::nccl::agree
