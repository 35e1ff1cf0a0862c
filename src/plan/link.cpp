#include "plan/link.h"

#include <algorithm>

#include "base/float_mode.h"

namespace thinwire::plan {
namespace {

// The kernel counts busy time in ticks of 4 ms on many systems: ten of them keep the error small.
// The first window may be shorter, as it replaces a guess or nothing.
constexpr double kWindowSeconds = 0.04, kFirstSeconds = 0.016;
constexpr double kLeastBytes = 256 << 10;
// So much within less than a tick or so: a fast link, whose busy time shows too seldom.
constexpr double kManyBytes = 256 << 20;
constexpr double kTick = 0.004;

// Windows within this factor of the newest are of the same link.
constexpr double kAgreeing = 1.6;

double rate_of(const Delivered& window) {
  return window.bytes / std::max(window.busy_seconds, kTick);
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
  const bool is_first = rate_.source != RateSource::kMeasured;
  return open_.bytes >= kLeastBytes &&
         open_.busy_seconds >= (is_first ? kFirstSeconds : kWindowSeconds);
}

void LinkEstimate::add(const Delivered& delivered) {
  const DefaultFloatMode mode;
  if (!(delivered.bytes > 0) || !(delivered.busy_seconds >= 0)) return;
  open_.bytes += delivered.bytes;
  open_.busy_seconds += delivered.busy_seconds;
  if (!is_whole()) return;
  take(open_);
  open_ = {};
}

void LinkEstimate::take(const Delivered& window) {
  std::shift_right(last_.begin(), last_.end(), 1);
  last_.front() = window;
  const double newest = rate_of(window);
  Delivered sum;
  for (const Delivered& each : last_) {
    if (each.bytes <= 0) break;
    const double rate = rate_of(each);
    if (rate > newest * kAgreeing || rate * kAgreeing < newest) break;
    sum.bytes += each.bytes;
    sum.busy_seconds += each.busy_seconds;
  }
  rate_ = {rate_of(sum), RateSource::kMeasured};
}

}  // namespace thinwire::plan
