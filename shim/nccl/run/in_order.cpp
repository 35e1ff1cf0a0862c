// Sums that are added in the order of the ranks, from a communicator's first one on (decision
// 0099): in slots where the ranks have agreed on these, else the same sums of values without slots.
#include "run/in_order.h"

#include <algorithm>

#include "base/dtype.h"
#include "run/service.h"
#include "state/reason.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

// Bytes of an array that is added at a time, so that a large one works in bounded memory. The order
// in which the values of an element are added is the same for any cut.
constexpr std::uint64_t kAtOnce = 16 << 20;

// Blocks of a sum are multiples of so many elements.
constexpr std::uint64_t kBlockUnit = 1024;

}  // namespace

// The ranks know alike whether all of them add in their order: what one of them lacks for it, it
// has said as it registered. Nothing is left to one rank after that.
void Compressor::decide_in_order(const Call& call, bool is_grouped, Decision& made) {
  made.dtype = dtype_of(call.type);
  if (state_ != agree::State::kReady) state_ = agreed_->wait_until_known();
  if (state_ == agree::State::kRaw) {
    made.is_raw = true;
    made.reason = TW_RAW_PEER_NOT_READY;
    return;
  }
  has_reserved_ = true;
  know_nodes();
  serves_ = serves_ || start_service();
  if (unable_ != TW_OK || !serves_) {
    made.failure = ncclSystemError;
    return set_error(made.failure);
  }
  const CodecUse& use = settings().codecs[call.choice.codec[side_of(call)]];
  if (call.raw_in_order != 0 || !use.orders) {
    made.reason = call.raw_in_order != 0 ? call.raw_in_order : int{TW_RAW_OFF};
  } else {
    decide_collective(call, is_grouped, false, made);
  }
  made.in_order = made.failure == ncclSuccess && !made.coded();
}

Plan* Compressor::plan_in_order(const Call& call, bool is_grouped) {
  PlanKey key = plan_key(call, ranks_, is_grouped || !blocks_);
  key.codec = call.choice.codec[kBetweenNodes];
  tw_status why = TW_OK;
  Plan* const plan = plans_.take(stream_comm_, key, &why);
  if (plan == nullptr) set_error(ncclSystemError);
  return plan;
}

// Each part but the last has blocks that are all as long.
std::uint64_t Compressor::elements_at_once(const Call& call) const {
  if (call.operation == kReduceScatter) return call.elements;
  const std::uint64_t unit = kBlockUnit * static_cast<std::uint64_t>(ranks_);
  const std::uint64_t most = kAtOnce / element_bytes(call.type);
  return std::max(most / unit, std::uint64_t{1}) * unit;
}

std::vector<Planned> parts_in_order(const Planned& whole, bool is_grouped) {
  std::vector<Planned> parts;
  Planned part = whole;
  part.decision = Decision();
  part.decision.number = whole.decision.number;
  part.decision.call_number = whole.decision.call_number;
  part.decision.codec = whole.decision.codec;
  part.decision.dtype = whole.decision.dtype;
  const std::uint64_t at_once = whole.compressor->elements_at_once(whole.call);
  const std::uint64_t size = element_bytes(whole.call.type);
  for (std::uint64_t first = 0; first < whole.call.elements; first += at_once) {
    part.call.elements = std::min<std::uint64_t>(at_once, whole.call.elements - first);
    part.call.send = static_cast<const std::byte*>(whole.call.send) + first * size;
    if (whole.call.receive != nullptr)
      part.call.receive = static_cast<std::byte*>(whole.call.receive) + first * size;
    part.decision.plan = whole.compressor->plan_in_order(part.call, is_grouped);
    parts.push_back(part);
    if (part.decision.plan != nullptr) continue;
    parts.pop_back();
    for (const Planned& each : parts) each.decision.plan->users.fetch_sub(1);
    return {};
  }
  return parts;
}

}  // namespace thinwire::nccl
