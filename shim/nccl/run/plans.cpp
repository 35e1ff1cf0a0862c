#include "run/plans.h"

#include <bit>

#include "state/settings.h"

namespace thinwire::nccl {
namespace {

std::uint64_t mix(std::uint64_t sum, std::uint64_t word) {
  return (sum ^ word) * 0x9E3779B97F4A7C15U + (sum >> 29);
}

tw_stream_plan_options options_of(const PlanKey& key) {
  tw_stream_plan_options options{};
  options.size = sizeof options;
  options.operation = key.operation;
  options.dtype = key.dtype;
  options.peer = key.peer;
  options.count = key.count;
  options.capacity[0] = key.capacity[0];
  options.capacity[1] = key.capacity[1];
  options.way = key.way;
  options.flags = key.flags;
  options.reduction = TW_SUM;
  options.scale = key.scale;
  options.reference_bytes = key.reference_bytes;
  options.codec = settings().codecs[key.codec].codec;
  return options;
}

}  // namespace

std::size_t Plans::Hash::operator()(const PlanKey& key) const {
  std::uint64_t sum = mix(key.operation, key.dtype);
  sum = mix(sum, static_cast<std::uint32_t>(key.peer));
  sum = mix(sum, std::uint64_t{key.capacity[0]} << 32 | key.capacity[1]);
  sum = mix(sum, std::uint64_t{key.way} << 32 | key.flags);
  sum = mix(sum, key.codec);
  sum = mix(sum, key.count);
  sum = mix(sum, key.reference_bytes);
  return mix(sum, std::bit_cast<std::uint64_t>(key.scale));
}

Plan* Plans::take(tw_stream_comm* comm, const PlanKey& key, tw_status* why) {
  *why = TW_OK;
  auto found = plans_.find(key);
  if (found == plans_.end()) {
    const tw_stream_plan_options options = options_of(key);
    auto made = std::make_unique<Plan>();
    *why = tw_stream_plan_create(comm, &options, &made->handle);
    if (*why != TW_OK) return nullptr;
    made->info.size = sizeof made->info;
    tw_stream_plan_describe(made->handle, &made->info);
    if (plans_.size() >= kMost) forget_some();
    found = plans_.emplace(key, std::move(made)).first;
  }
  Plan* const plan = found->second.get();
  plan->recent = true;
  plan->users.fetch_add(1, std::memory_order_relaxed);
  return plan;
}

// Those that were not used since the last time.
void Plans::forget_some() {
  std::erase_if(plans_, [](auto& each) {
    Plan& plan = *each.second;
    const bool used = plan.recent || plan.users.load(std::memory_order_acquire) != 0;
    plan.recent = false;
    return !used;
  });
}

}  // namespace thinwire::nccl
