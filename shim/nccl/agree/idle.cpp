#include "agree/idle.h"

#include <algorithm>
#include <utility>

#include "agree/descriptors.h"
#include "agree/limits.h"
#include "agree/session.h"

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

}  // namespace thinwire::nccl::agree
