#include "entry/counting.h"
#include "observe/count.h"

#include "entry/group.h"
#include "observe/report.h"
#include "state/reason.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

std::uint64_t bytes_given(const Call& call, const Communicator& communicator) {
  const auto blocks = static_cast<std::uint64_t>(call.blocks(communicator.ranks));
  return blocks * call.elements * element_bytes(call.type);
}

}  // namespace

bool wants_count() {
  const Settings& set = settings();
  if (set.asked_for || !set.report.empty() || is_traced()) report_at_exit();
  return is_counting();
}

std::uint64_t bytes_judged(const Call& call, const Communicator& communicator) {
  if (call.operation == kReduceScatter) return bytes_given(call, communicator);
  return call.elements * element_bytes(call.type);
}

void count_call(const Call& call, Communicator& communicator, int reason, int rule, unsigned codec,
                const Plan* plan, Order order) {
  if (!wants_count()) return;
  const bool is_root = call.peer == communicator.rank;
  const bool sends_none =
      plan != nullptr && plan->info.raw_bytes == 0 && plan->info.plain_bytes == 0;
  const bool keeps = is_root && call.does(kAtRoot) && (call.is_exchange() || sends_none);
  const bool gives = call.reads(communicator.rank) && !keeps;
  const std::uint64_t bytes = gives ? bytes_given(call, communicator) : 0;
  Count made{.communicator = &communicator,
             .operation = call.operation,
             .peer = call.peer,
             .codec = codec,
             .reason = plan == nullptr ? reason : 0,
             .bytes = bytes,
             .wire_bytes = bytes,
             .rule = rule,
             .order = order};
  if (plan != nullptr) {
    // In two levels that between nodes: inside, values go about more than once.
    const std::uint64_t in_nodes = plan->info.in_levels != 0 ? 0 : plan->info.plain_bytes;
    const auto raw = static_cast<double>(plan->info.raw_bytes + in_nodes);
    const auto wire = static_cast<double>(plan->info.wire_bytes + in_nodes);
    const double share = raw == 0 ? 0 : wire / raw;
    made.wire_bytes = static_cast<std::uint64_t>(static_cast<double>(bytes) * share);
  }
  in_group() ? keep_count(made) : count(made);
}

}  // namespace thinwire::nccl
