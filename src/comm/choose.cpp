// The plan of a call, and the one thing in it that is measured: what the codec costs.
#include <algorithm>
#include <vector>

#include "comm/communicator.h"
#include "comm/costs.h"
#include "comm/workspace.h"
#include "device/copy.h"
#include "plan/collective.h"

namespace thinwire::comm {
namespace {

using plan::Operation;

// The size that the plan assumes if the lists of a call differ between ranks.
constexpr std::uint64_t kUnknownBytes = 64 << 20;

// Bytes of the whole array, as plan::Work has it; alike on all ranks.
std::uint64_t planned_bytes(const Call& call, const Options& options, int size) {
  const std::uint64_t value_bytes = dtype_size(call.dtype);
  switch (call.operation) {
    case Operation::kBcast:
    case Operation::kReduce:
    case Operation::kAllreduce:
      return call.count * value_bytes;
    case Operation::kAllgather:
    case Operation::kReduceScatter:
      return sum_of(call.receive_counts, call.count, size) * value_bytes;
    case Operation::kGather:
    case Operation::kScatter:
    case Operation::kAlltoall:
      break;
  }
  const bool differs =
      call.varied || (call.operation == Operation::kAlltoall &&
                      (call.send_counts != nullptr || call.receive_counts != nullptr));
  if (differs) return std::max(kUnknownBytes, options.threshold);
  return call.count * value_bytes * static_cast<std::uint64_t>(size);
}

}  // namespace

choose::Backoff& Communicator::backoff_of(const Call& call) {
  const auto found = std::ranges::find_if(
      tried_, [&](const Tried& one) { return one.dtype == call.dtype && one.spec == call.spec; });
  if (found != tried_.end()) return found->backoff;
  return tried_.emplace_back(call.spec, call.dtype, choose::Backoff{}).backoff;
}

bool Communicator::lacks_cost(const Call& call) const {
  if (options_.link_bytes_per_second <= 0 || size() < 2) return false;
  return !costs_.of(call).has_value() && may_compress(call);
}

Status Communicator::learn(const Call& call, int device) {
  plan::CodecCost cost = measure_cost(call, size(), device, options_.costs.get());
  if (Status status = agree_on_slowest(*transport_, cost); !status.ok()) return status;
  costs_.keep(call, cost);
  return {};
}

Status Communicator::learn_cost(const Call& call) {
  if (broken_) return gone();
  if (!lacks_cost(call)) return {};
  const auto device = device::device_of(call.send, call.receive);
  const Status status = learn(call, device.ok() ? *device : -1);
  return status.ok() ? status : broken(status);
}

void Communicator::want_cost(const Call& call) {
  if (!lacks_cost(call)) return;
  const auto device = device::device_of(call.send, call.receive);
  costs_.want(call, device.ok() ? *device : -1);
}

Status Communicator::learn_costs() {
  if (broken_) return gone();
  for (const Wanted& wanted : costs_.take_wanted()) {
    // Whether it may be compressed was asked with its lists, which are no longer there.
    if (costs_.of(wanted.call).has_value()) continue;
    if (Status status = learn(wanted.call, wanted.device); !status.ok()) return broken(status);
  }
  return {};
}

// By what is equal on all ranks.
bool Communicator::may_compress(const Call& call) const {
  plan::CollectiveSettings settings;
  settings.same_node = options_.same_node;
  settings.threshold = options_.threshold;
  // A link that is slower than anything.
  settings.link_bytes_per_second = 1;
  settings.cost = {1e18, 1e18, 2};
  const plan::Reason reason = plan_with(call, settings).reason;
  return reason == plan::Reason::kCompress;
}

plan::CollectivePlan Communicator::plan_with(const Call& call,
                                             const plan::CollectiveSettings& settings) const {
  plan::CollectiveFacts facts;
  facts.operation = call.operation;
  facts.reduction = call.reduction;
  facts.dtype = call.dtype;
  facts.bytes = planned_bytes(call, options_, size());
  facts.spread = {.ranks = size(), .nodes = nodes_};
  facts.algorithm = call.algorithm;
  facts.coding = call.coding;
  facts.ways = collective::all_ways();
  return plan::plan_collective(call.spec, settings, facts);
}

Result<Choice> Communicator::choose(const Call& call) const {
  plan::CollectiveSettings settings;
  settings.threshold = options_.threshold;
  settings.same_node = options_.same_node;
  settings.link_bytes_per_second = options_.link_bytes_per_second;
  settings.piece_bytes = options_.piece_bytes;
  settings.force = call.forced;
  const bool lacks = lacks_cost(call);
  if (!lacks) settings.cost = costs_.of(call).value_or(plan::CodecCost{});
  plan::CollectivePlan plan = plan_with(call, settings);
  if (lacks) plan.reason = plan::Reason::kCostUnknown, plan.raw_seconds = plan.seconds = 0;
  if (plan.algorithm == plan::Algorithm::kPlanned) {
    return {StatusCode::kUnsupported, "there is no such schedule"};
  }
  return Choice{.reason = plan.reason,
                .algorithm = plan.algorithm,
                .coding = plan.coding,
                .piece_bytes = plan.piece_bytes,
                .window = plan.window,
                .raw_seconds = plan.raw_seconds,
                .seconds = plan.seconds,
                .least_ratio = plan.least_ratio};
}

int Communicator::count_nodes() const {
  if (options_.nodes.empty()) return size();
  std::vector<std::int32_t> sorted = options_.nodes;
  std::ranges::sort(sorted);
  return static_cast<int>(std::ranges::unique(sorted).begin() - sorted.begin());
}

}  // namespace thinwire::comm
