#include "choose/lag.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace thinwire::choose {
namespace {

// More are taken for so many.
constexpr std::uint64_t kMost = 64;
// Steps between two messages that are watched. With an odd number of them these fall into all
// places of a program that repeats itself.
constexpr std::uint64_t kBetween = 5;
// So little of one is under way whenever messages are.
constexpr double kPartOfMessage = 0.25;

}  // namespace

std::uint64_t Lag::steps() const { return steps_ == 0 ? 0 : std::bit_ceil(steps_); }

void Lag::watch(std::uint64_t position) {
  is_watched_ = true;
  began_ = position;
}

void Lag::complete(std::uint64_t position) {
  if (!is_watched_ || is_complete_) return;
  is_complete_ = true;
  seen_ = position - began_;
}

// A message is complete as it is in the system's buffers, and the next one gets there as the other
// side has taken it.
void Lag::end(double under_way, std::uint64_t position) {
  if (!is_complete_) return;
  const double whole = std::ceil(std::clamp(under_way - kPartOfMessage, 0.0, double{kMost}));
  const auto queued = static_cast<std::uint64_t>(whole);
  note(std::max(seen_ + std::min<std::uint64_t>(queued, 1), queued), position);
}

void Lag::lose(std::uint64_t position) {
  if (is_watched_) note(kMost, position);
}

void Lag::pass(std::uint64_t position) {
  if (is_watched_ && !is_complete_ && position - began_ > kMost) note(kMost, position);
}

// The most of late ones, as threads take turns in no order.
void Lag::note(std::uint64_t steps, std::uint64_t position) {
  drop();
  is_known_ = true;
  next_ = position + kBetween;
  steps = std::min(steps, kMost);
  steps_ = steps >= steps_ ? steps : steps_ - (steps_ - steps + 3) / 4;
}

}  // namespace thinwire::choose
