#include "agree/outbox.h"

#include <utility>

namespace thinwire::nccl::agree {

namespace {

// Bytes that a queue keeps with a message, rounded up.
constexpr std::uint64_t kBesideMessage = 128;

std::uint64_t cost_of(const SharedBytes& message) { return kBesideMessage + message->size(); }

}  // namespace

void Outbox::put(SharedBytes message) {
  bytes_ += cost_of(message);
  urgent_.push_back(std::move(message));
}

void Outbox::put_part(SharedBytes message) {
  bytes_ += cost_of(message);
  parts_.push_back(std::move(message));
}

// The first ones, which are written.
void Outbox::forget(std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) bytes_ -= cost_of(kept_[at]);
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(count));
  at_ -= count;
}

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
  forget(at_);
}

bool Outbox::took(std::uint64_t count) {
  if (count < taken_ || count - taken_ > at_) return false;
  forget(count - taken_);
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
  bytes_ = 0;
}

}  // namespace thinwire::nccl::agree
