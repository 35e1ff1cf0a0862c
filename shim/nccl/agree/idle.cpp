#include "agree/idle.h"

#include <algorithm>
#include <new>
#include <utility>

#include "agree/limits.h"
#include "agree/session.h"
#include "agree/socket.h"

namespace thinwire::nccl::agree {

void Idle::made(Session& session) {
  ended(session);
  by_use_.push_back({&session, Loop::Clock::now()});
  places_[&session] = std::prev(by_use_.end());
  if (by_use_.size() > kept() && !std::exchange(looks_, true)) {
    timer_ = loop_.after(kUnused, [this] { look(); });
  }
}

void Idle::used(Session& session) {
  const auto found = places_.find(&session);
  if (found == places_.end()) return;
  found->second->at = Loop::Clock::now();
  by_use_.splice(by_use_.end(), by_use_, found->second);
}

void Idle::ended(Session& session) {
  const auto found = places_.find(&session);
  if (found == places_.end()) return;
  by_use_.erase(found->second);
  places_.erase(found);
}

bool Idle::has_room() const { return by_use_.size() < most_connections(); }

std::size_t Idle::kept() const { return std::min(kept_, most_connections() / 4); }

void Idle::look() {
  looks_ = by_use_.size() > kept();
  if (!looks_) return;
  std::size_t more = by_use_.size() - kept();
  const auto now = Loop::Clock::now();
  for (auto use = by_use_.begin(); more > 0 && use != by_use_.end() && now - use->at >= kUnused;
       --more) {
    Session& session = *(use++)->session;
    if (session.may_rest()) session.wish_rest();
  }
  timer_ = loop_.after(kUnused, [this] { look(); });
}

void Openings::ask(const void* owner, std::uint32_t order, Loop::Task start) {
  done(owner);
  orders_[owner] = order;
  waiting_[{order, owner}] = std::move(start);
  go_on();
}

void Openings::made(const void* owner) {
  last_made_ = Loop::Clock::now();
  done(owner);
}

void Openings::done(const void* owner) {
  const auto waits = orders_.find(owner);
  if (waits != orders_.end()) {
    waiting_.erase({waits->second, owner});
    orders_.erase(waits);
  }
  if (under_way_.erase(owner) == 0) return;
  try {
    go_on();
  } catch (const std::bad_alloc&) {  // from a destructor: the next that asks goes on
  }
}

// Not at once: whoever asks, or has ended, is in the middle of something.
void Openings::go_on() {
  if (waiting_.empty() || goes_on_) return;
  timer_ = loop_.after(0ms, [this] {
    goes_on_ = false;
    start_some();
  });
  goes_on_ = true;
}

void Openings::start_some() {
  while (under_way_.size() < kMostOpenings && !waiting_.empty()) {
    const auto first = waiting_.begin();
    const void* const owner = first->first.second;
    const Loop::Task start = std::move(first->second);
    waiting_.erase(first);
    orders_.erase(owner);
    under_way_.insert(owner);
    start();
  }
}

}  // namespace thinwire::nccl::agree
