#include "choose/link.h"

#include <algorithm>

#include "base/float_mode.h"

namespace thinwire::choose {
namespace {

// The kernel counts busy time in ticks of 4 ms on many systems: ten of them keep the error small.
// A shorter one replaces a guess or nothing, and follows one that showed a change, as part of that
// was of the link before.
constexpr double kWindowSeconds = 0.04, kShortSeconds = 0.016;
constexpr double kLeastBytes = 256 << 10;
// So much within less than a tick or so: a fast link, whose busy time shows too seldom.
constexpr double kManyBytes = 256 << 20;
constexpr double kTick = 0.004;

// Windows within this factor of each other are of the same link.
constexpr double kAgreeing = 1.6;

// The first window holds the connection's slow start and the receiver's first allocations: by it
// alone nothing is believed, as what begins to compress then sends little that would correct it.
constexpr int kConfirmed = 2;

// A link has become faster if what was sent lately would have taken so long by the rate so far,
// and longer still by twice its busy time: six ticks that are missing are no accident. "Lately" is
// this much busy time at most, or the link's time before would hide it.
constexpr double kMissingSeconds = 0.024, kLatelySeconds = 0.008;

double rate_of(const Delivered& window) {
  return window.bytes / std::max(window.busy_seconds, kTick);
}

bool agree(const Delivered& one, const Delivered& other) {
  const double rate = rate_of(one), other_rate = rate_of(other);
  return rate <= other_rate * kAgreeing && other_rate <= rate * kAgreeing;
}

}  // namespace

const char* source_text(RateSource source) {
  switch (source) {
    case RateSource::kUnknown:
      return "not known";
    case RateSource::kStated:
      return "stated";
    case RateSource::kMachine:
      return "the machine's";
    case RateSource::kMeasured:
      return "measured";
  }
  return "not known";
}

double share_of(double interface_bytes_per_second, int ranks) {
  return interface_bytes_per_second / std::max(ranks, 1);
}

bool LinkEstimate::is_whole() const {
  if (open_.bytes >= kManyBytes) return true;
  return open_.bytes >= kLeastBytes &&
         open_.busy_seconds >= (is_confirmed_ ? kWindowSeconds : kShortSeconds);
}

bool LinkEstimate::is_faster() const {
  if (lately_.bytes < kLeastBytes || rate_.bytes_per_second <= 0) return false;
  return lately_.bytes / rate_.bytes_per_second >= kMissingSeconds + 2 * lately_.busy_seconds;
}

void LinkEstimate::add(const Delivered& delivered) {
  const DefaultFloatMode mode;
  if (!(delivered.bytes > 0) || !(delivered.busy_seconds >= 0)) return;
  for (Delivered* const sum : {&open_, &lately_}) {
    sum->bytes += delivered.bytes;
    sum->busy_seconds += delivered.busy_seconds;
  }
  if (is_faster()) {
    take(lately_);
    open_ = lately_ = {};
  } else if (is_whole()) {
    take(open_);
    open_ = {};
  }
  if (lately_.busy_seconds >= kLatelySeconds) lately_ = {};
}

// A window is slower than the link where an acknowledgement of little came late, and none is faster
// but by the clock's ticks. So the fastest is believed that another one confirms, or that is new.
const Delivered& LinkEstimate::believed() const {
  const Delivered* best = last_.data();
  for (const Delivered& each : last_) {
    const auto confirms = [&](const Delivered& other) {
      return &other != &each && other.bytes > 0 && agree(each, other);
    };
    if (each.bytes > 0 && rate_of(each) > rate_of(*best) && std::ranges::any_of(last_, confirms)) {
      best = &each;
    }
  }
  return *best;
}

void LinkEstimate::take(const Delivered& window) {
  std::shift_right(last_.begin(), last_.end(), 1);
  last_.front() = window;
  const Delivered& best = believed();
  Delivered sum;
  int agreeing = 0;
  for (const Delivered& each : last_) {
    if (each.bytes <= 0 || !agree(each, best)) continue;
    ++agreeing;
    sum.bytes += each.bytes;
    sum.busy_seconds += each.busy_seconds;
  }
  if (rate_.source != RateSource::kMeasured && agreeing < kConfirmed) return;
  is_confirmed_ = agree(window, best);
  rate_ = {rate_of(sum), RateSource::kMeasured};
}

}  // namespace thinwire::choose
