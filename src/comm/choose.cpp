// The plan of a call, and the one thing in it that is measured: what the codec costs.
#include <algorithm>
#include <vector>

#include "comm/communicator.h"
#include "comm/cost.h"
#include "comm/regions.h"
#include "device/copy.h"
#include "plan/collective.h"

namespace thinwire::comm {
namespace {

using plan::Operation;

// What the plan goes by where the lists of a call differ between ranks.
constexpr std::uint64_t kUnknownBytes = 64 << 20;

const std::vector<plan::Way>& all_ways() {
  static const std::vector<plan::Way> ways = [] {
    std::vector<plan::Way> found;
    for (const collective::Row& row : collective::algorithms()) {
      found.push_back({row.operation, row.algorithm, row.coding});
    }
    return found;
  }();
  return ways;
}

// Of the whole array, as plan::Work has it; alike on all ranks.
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

const Communicator::Learned* Communicator::find_learned(const Call& call) const {
  const auto found = std::ranges::find_if(learned_, [&](const Learned& one) {
    return one.dtype == call.dtype && one.spec == call.spec;
  });
  return found == learned_.end() ? nullptr : &*found;
}

Communicator::Learned& Communicator::learned(const Call& call) {
  const Learned* const known = find_learned(call);
  if (known != nullptr) return const_cast<Learned&>(*known);
  learned_.push_back({.spec = call.spec, .dtype = call.dtype, .cost = {}, .backoff = {}});
  return learned_.back();
}

Status Communicator::learn_cost(const Call& call) {
  if (options_.link_bytes_per_second <= 0 || size() < 2) return {};
  const Learned* const known = find_learned(call);
  if ((known != nullptr && known->has_cost) || !may_compress(call)) return {};
  const auto device = device::device_of(call.send, call.receive);
  plan::CodecCost cost = measure_cost(call, size(), device.ok() ? *device : -1);
  if (Status status = agree_on_slowest(*transport_, cost); !status.ok()) return status;
  Learned& own = learned(call);
  own.has_cost = true;
  own.cost = cost;
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
  facts.ways = all_ways();
  return plan::plan_collective(call.spec, settings, facts);
}

Result<Choice> Communicator::choose(const Call& call) const {
  plan::CollectiveSettings settings;
  settings.threshold = options_.threshold;
  settings.same_node = options_.same_node;
  settings.link_bytes_per_second = options_.link_bytes_per_second;
  settings.piece_bytes = options_.piece_bytes;
  const Learned* const known = find_learned(call);
  if (known != nullptr && known->has_cost) settings.cost = known->cost;
  const plan::CollectivePlan plan = plan_with(call, settings);
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
