#include "comm/costs.h"

#include <algorithm>
#include <utility>

namespace thinwire::comm {

const Costs::Known* Costs::find(const codec::Spec& spec, Dtype dtype) const {
  const auto found = std::ranges::find_if(
      known_, [&](const Known& one) { return one.dtype == dtype && one.spec == spec; });
  return found == known_.end() ? nullptr : &*found;
}

std::optional<plan::CodecCost> Costs::of(const Call& call) const {
  const std::lock_guard lock(mutex_);
  const Known* const known = find(call.spec, call.dtype);
  return known == nullptr ? std::nullopt : std::optional(known->cost);
}

void Costs::keep(const Call& call, const plan::CodecCost& cost) {
  const std::lock_guard lock(mutex_);
  if (find(call.spec, call.dtype) == nullptr) known_.push_back({call.spec, call.dtype, cost});
}

void Costs::want(const Call& call, int device) {
  const std::lock_guard lock(mutex_);
  const bool is_wanted = std::ranges::any_of(wanted_, [&](const Wanted& one) {
    return one.call.dtype == call.dtype && one.call.spec == call.spec;
  });
  if (is_wanted) return;
  Call kept = call;
  kept.send = nullptr;
  kept.receive = nullptr;
  kept.send_counts = kept.send_displacements = nullptr;
  kept.receive_counts = kept.receive_displacements = nullptr;
  wanted_.push_back({std::move(kept), device});
}

std::vector<Wanted> Costs::take_wanted() {
  const std::lock_guard lock(mutex_);
  return std::exchange(wanted_, {});
}

void Costs::adopt(const Costs& other) {
  if (this == &other) return;
  const std::scoped_lock lock(mutex_, other.mutex_);
  for (const Known& one : other.known_) {
    if (find(one.spec, one.dtype) == nullptr) known_.push_back(one);
  }
}

}  // namespace thinwire::comm
