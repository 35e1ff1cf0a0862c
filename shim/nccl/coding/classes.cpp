#include "coding/classes.h"

#include <utility>

namespace thinwire::nccl {
namespace {

// As many trials as show how much calls of a class differ; then few, as each costs an encode.
constexpr std::uint64_t kFirstTrials = 4;
constexpr std::uint64_t kWhileUndecided = 32;
// Of a class that did not get smaller: data changes its nature seldom.
constexpr std::uint64_t kWhileRaw = 256;

}  // namespace

bool Class::wants_trial(std::uint16_t reason) {
  const std::uint64_t call = raw_calls_++;
  if (reason == agree::kNotSmaller) return call % kWhileRaw == kWhileRaw - 1;
  return call < kFirstTrials || call % kWhileUndecided == 0;
}

void Class::measured(std::uint32_t needed, bool again) {
  if (vetoed_) return;
  if (const auto offered = needs_.take(needed, again)) channel_->offer(key_, {*offered, 0});
}

void Class::veto(std::uint16_t reason) {
  if (std::exchange(vetoed_, true)) return;
  channel_->offer(key_, {0, reason});
}

}  // namespace thinwire::nccl
