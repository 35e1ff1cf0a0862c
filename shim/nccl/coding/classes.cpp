#include "coding/classes.h"

#include <algorithm>

namespace thinwire::nccl {
namespace {

// As many trials as show how much calls of a class differ; then few, as each costs an encode.
constexpr std::uint64_t kFirstTrials = 4;
constexpr std::uint64_t kWhileUndecided = 32;
// Of a class that did not get smaller: data changes its nature seldom.
constexpr std::uint64_t kWhileRaw = 256;

constexpr std::uint32_t kNone = 513;  // no capacity would do

// A decision leaves that much room above what was offered (agree/decide.cpp).
constexpr std::uint32_t kReserve = 32;

}  // namespace

bool Class::wants_trial(std::uint16_t reason) {
  const std::uint64_t call = raw_calls_++;
  if (reason == agree::kNotSmaller) return call % kWhileRaw == kWhileRaw - 1;
  return call < kFirstTrials || call % kWhileUndecided == 0;
}

void Class::measured(std::uint32_t needed, bool again) {
  needed = std::min(needed, kNone);
  if (offered_.veto != 0) return;
  const bool larger = needed > offered_.needed + offered_.needed / kReserve;
  const bool smaller = again && needed < offered_.needed;
  if (has_offered_ && !larger && !smaller) return;
  has_offered_ = true;
  offered_.needed = static_cast<std::uint16_t>(needed);
  channel_->offer(key_, offered_);
}

void Class::veto(std::uint16_t reason) {
  if (offered_.veto != 0) return;
  has_offered_ = true;
  offered_ = {0, reason};
  channel_->offer(key_, offered_);
}

}  // namespace thinwire::nccl
