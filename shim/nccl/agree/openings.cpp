#include "agree/openings.h"

#include <new>

#include "agree/limits.h"

namespace thinwire::nccl::agree {

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
