#include "choose/large_interval.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "base/float_mode.h"

namespace thinwire::choose {
namespace {

// A connection that delivered less carried no large message, or so little of one that the kernel's
// clock does not show it.
constexpr double kLeastBytes = 64 << 10;
constexpr double kTick = 0.004;

// A connection so much slower than the fastest is not the messages': an upload, a log.
constexpr double kMuchSlower = 4;

// Bounds of what connections took from the program, as a part of what was sent as messages: MPIs
// put headers before them and send small messages besides.
constexpr double kLeastShare = 0.9, kMostShare = 1.1;

// The last bytes of a message need not be waited for.
constexpr double kNearlyAll = 0.97;

// Small messages that may have been alone for this part of the time change little.
constexpr double kSmallShare = 0.125;

constexpr double kLongSeconds = 0.04;

double rate_of(const Delivered& of) { return of.bytes / std::max(of.busy_seconds, kTick); }

// Adds up the connections that carried large messages, the fastest first, as far as `most` bytes.
Growth of_messages(std::span<const Growth> connections, double most) {
  std::vector<Growth> carried;
  for (const Growth& each : connections) {
    if (each.delivered.bytes >= kLeastBytes) carried.push_back(each);
  }
  std::ranges::sort(carried, std::greater{},
                    [](const Growth& of) { return rate_of(of.delivered); });
  Growth sum;
  for (const Growth& each : carried) {
    if (rate_of(each.delivered) * kMuchSlower < rate_of(carried.front().delivered)) break;
    if (sum.taken_bytes + each.taken_bytes > most) continue;
    sum.delivered.bytes += each.delivered.bytes;
    sum.delivered.busy_seconds += each.delivered.busy_seconds;
    sum.taken_bytes += each.taken_bytes;
    sum.pending_bytes += each.pending_bytes;
  }
  return sum;
}

}  // namespace

void LargeInterval::open(double now) {
  *this = {};
  is_open_ = true;
  under_way_ = last_small_ = now;
}

double LargeInterval::most_bytes() const {
  return is_unknown_ ? std::numeric_limits<double>::max() : kMostShare * sent_bytes_ + kLeastBytes;
}

bool LargeInterval::is_finished(std::span<const Growth> connections, double now) {
  const DefaultFloatMode mode;
  const Growth sum = of_messages(connections, most_bytes());
  const bool is_finished = is_unknown_ ? sum.delivered.bytes > 0 && sum.pending_bytes <= 0
                                       : sum.delivered.bytes >= kNearlyAll * sent_bytes_;
  if (!is_finished) under_way_ = now;
  return is_finished;
}

bool LargeInterval::is_long(std::span<const Growth> connections) const {
  const DefaultFloatMode mode;
  const Growth sum = of_messages(connections, most_bytes());
  return sum.delivered.busy_seconds >= kLongSeconds &&
         (is_unknown_ || sum.taken_bytes >= kLeastShare * sent_bytes_);
}

bool LargeInterval::is_behind(std::span<const Growth> connections) const {
  const DefaultFloatMode mode;
  const Growth sum = of_messages(connections, most_bytes());
  return !is_unknown_ && sum.delivered.busy_seconds >= 2 * kLongSeconds &&
         sum.taken_bytes < kLeastShare * sent_bytes_;
}

Delivered LargeInterval::close(std::span<const Growth> connections) {
  const DefaultFloatMode mode;
  is_open_ = false;
  const Growth sum = of_messages(connections, most_bytes());
  const bool is_of_messages = is_unknown_ || sum.taken_bytes >= kLeastShare * sent_bytes_;
  const double alone = std::max(0.0, last_small_ - under_way_);
  const double busy = std::max(sum.delivered.busy_seconds, kTick);
  if (!is_of_messages || alone > kSmallShare * busy) return {};
  return sum.delivered;
}

}  // namespace thinwire::choose
