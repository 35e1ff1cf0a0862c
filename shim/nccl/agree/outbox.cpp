#include "agree/outbox.h"

#include <utility>

namespace thinwire::nccl::agree {

const SharedBytes& Outbox::next() {
  if (at_ == kept_.size()) {
    auto& queue = urgent_.empty() ? parts_ : urgent_;
    kept_.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  return kept_[at_];
}

void Outbox::written() {
  ++at_;
  if (!keeps_) stop_keeping();
}

void Outbox::stop_keeping() {
  keeps_ = false;
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(std::exchange(at_, 0)));
}

bool Outbox::took(std::uint64_t count) {
  if (count < taken_ || count - taken_ > at_) return false;
  const std::size_t more = count - taken_;
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(more));
  at_ -= more;
  taken_ = count;
  return true;
}

bool Outbox::rewind(std::uint64_t count) {
  if (!took(count)) return false;
  at_ = 0;
  return true;
}

void Outbox::clear() {
  kept_.clear();
  urgent_.clear();
  parts_.clear();
  at_ = 0;
}

}  // namespace thinwire::nccl::agree
