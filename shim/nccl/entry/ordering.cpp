#include "entry/ordering.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "native/cuda.h"
#include "state/reason.h"
#include "state/settings.h"

namespace thinwire::nccl {

bool has_ended(const Communicator& communicator) {
  return communicator.finalized || communicator.suspended || communicator.revoked;
}

namespace {

bool orders(const Call& call, Side side) {
  const bool is_float = dtype_of(call.type) != TW_BYTES;
  const bool depends = call.reduces() && call.op != ncclMin && call.op != ncclMax;
  return depends && is_float && call.elements > 0 &&
         settings().codecs[call.choice.codec[side]].orders;
}

bool depends_on_side(const Call& call) {
  return orders(call, kWithinNode) != orders(call, kBetweenNodes);
}

}  // namespace

bool wants_order(const Call& call, const Communicator& communicator) {
  if (!depends_on_side(call)) return orders(call, kBetweenNodes);
  if (!communicator.agreed) return true;
  const std::vector<std::uint32_t> nodes = communicator.agreed->nodes();
  if (nodes.empty()) return true;
  const bool are_one = std::ranges::all_of(nodes, [&](auto each) { return each == nodes.front(); });
  return orders(call, are_one ? kWithinNode : kBetweenNodes);
}

void await_side(const Call& call, const Communicator& communicator) {
  if (!depends_on_side(call) || communicator.ranks <= 1 || has_ended(communicator)) return;
  if (communicator.agreed) communicator.agreed->wait_until_known();
}

// Who asks for NCCL's own algorithms, too, has the order.
int reason_in_order(Call& call, int reason, const Communicator& communicator) {
  if (communicator.ranks <= 1) return kAlone;
  if (!call.sums() || !is_added(static_cast<Dtype>(dtype_of(call.type)))) return kNotInOrder;
  call.is_ordered = true;
  const bool configured = call.config != nullptr && !asks_nothing(*call.config);
  call.raw_in_order = reason != kNotBuilt ? reason : configured ? int{kConfigured} : 0;
  call.capture = capture_of(call.stream);
  return call.capture.state == Capture::State::kUnclear ? int{kCaptured} : 0;
}

namespace {

bool is_exact(const Call& call) {
  const std::vector<CodecUse>& codecs = settings().codecs;
  return std::ranges::any_of(call.choice.codec, [&](unsigned each) { return codecs[each].exact; });
}

// Says on a communicator's first rank, once a process, that sums are in no promised order, or not
// exact, and why.
void say_out_of_order(const Call& call, int reason, const Communicator& communicator) {
  static std::atomic<bool> said{false};
  if (communicator.rank != 0 || said.exchange(true)) return;
  tw_log(TW_LOG_WARNING,
         (std::string(is_exact(call)
                          ? "reductions=exact: a sum of NCCL's is not exact: "
                          : "reductions=ordered: a sum of NCCL's is not in the order of the "
                            "ranks: ") +
          reason_text(reason) + "; out_of_rank_order of the report counts these")
             .c_str());
}

}  // namespace

Order order_of(const Planned& planned) {
  const Decision& decision = planned.decision;
  if (!planned.call.is_ordered) return Order::kAny;
  if (decision.coded() || decision.in_order) return Order::kOfRanks;
  say_out_of_order(planned.call, decision.reason, *planned.communicator);
  return Order::kOfNccl;
}

Order order_of_native(const Call& call, const Communicator& communicator, int why) {
  if (communicator.ranks <= 1 || !wants_order(call, communicator)) return Order::kAny;
  say_out_of_order(call, why, communicator);
  return Order::kOfNccl;
}

}  // namespace thinwire::nccl
