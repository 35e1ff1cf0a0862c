#include "run/plans.h"

#include <algorithm>
#include <bit>

#include "base/mix.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

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
  return mix_of(key.operation, key.dtype, static_cast<std::uint32_t>(key.peer), key.capacity[0],
                key.capacity[1], key.way, key.flags, key.codec, key.count, key.reference_bytes,
                std::bit_cast<std::uint64_t>(key.scale));
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

namespace {

// Above that an Allreduce of more than two ranks costs less in two exchanges. The core's rule; it
// is stated, since kinds differ by it.
constexpr std::uint64_t kMostGathered = 64 << 10;

constexpr std::uint64_t kWhole = 512;  // a capacity that holds any block

// Messages of a group of the program's are part of it.
bool goes_in_rounds(const Call& call, bool is_whole) {
  return settings().rounds && !is_whole && (call.reduces() || call.is_of_all_pairs());
}

}  // namespace

PlanKey plan_key(const Call& call, int ranks, bool is_whole) {
  PlanKey key;
  key.operation = kOperationRows[call.operation].of_stream;
  key.dtype = dtype_of(call.type);
  key.peer = call.has_peer() ? call.peer : 0;
  key.count = call.elements;
  if (call.operation == kReduce) key.way = ranks <= 2 ? TW_STREAM_GATHER : TW_STREAM_DIRECT;
  if (call.operation == kAllReduce) {
    const bool small = call.elements * element_bytes(call.type) <= kMostGathered;
    key.way = ranks <= 2 || small ? TW_STREAM_GATHER : TW_STREAM_DIRECT;
  }
  if (call.reduces() && call.op == ncclAvg) key.scale = 1.0 / ranks;
  if (call.factor) key.flags |= TW_STREAM_PREMULTIPLIED;
  if (goes_in_rounds(call, is_whole)) key.flags |= TW_STREAM_ROUNDS;
  return key;
}

void make_room_in_graph(PlanKey& key) {
  if (settings().codecs[key.codec].has_fixed_size()) return;
  for (std::uint32_t& each : key.capacity) {
    const std::uint32_t roomy = std::min<std::uint32_t>(each + each / 16 + 1, kWhole - 1);
    each = std::max(each, roomy);
  }
}

std::uint64_t kind_key(const Call& call, const PlanKey& plan, unsigned exchange) {
  const auto octave =
      static_cast<unsigned>(std::bit_width(call.elements * element_bytes(call.type)));
  const std::uint64_t way = plan.way * 2 + exchange;
  const std::uint64_t operation = call.operation;
  const std::uint64_t root = call.does(kOfRoot) ? static_cast<std::uint32_t>(call.peer) : 0;
  const std::uint64_t codecs = call.choice.codec[kWithinNode] | call.choice.codec[kBetweenNodes]
                                                                    << 6;
  static_assert(kOperations <= 16 && TW_STREAM_DIRECT < 8 && TW_F8_E5M2 < 16);
  return operation | way << 4 | std::uint64_t{plan.dtype} << 8 | codecs << 12 |
         std::uint64_t{octave} << 24 | root << 32;
}

bool brings_less(const PlanKey& key, int ranks_or_nodes) {
  if (key.operation != TW_STREAM_REDUCE || key.way == TW_STREAM_GATHER) return true;
  const auto all = static_cast<std::uint64_t>(ranks_or_nodes);
  return (all - 1) * (key.capacity[0] + key.capacity[1]) < kWhole * all;
}

}  // namespace thinwire::nccl
