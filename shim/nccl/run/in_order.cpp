// Sums that are added in the order of the ranks, from a communicator's first one on (decision
// 0099): in slots where the ranks have agreed on these, else the same sums of values without slots.
#include "run/in_order.h"

#include <algorithm>
#include <utility>

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

// The same of a reduce-scatter, of all blocks together, and the most ranks with which it is cut: a
// part is as many sums.
constexpr std::uint64_t kBlocksAtOnce = 2 * kAtOnce, kMostCut = 64;

}  // namespace

// The ranks know alike whether all of them add in their order: what one of them lacks for it, it
// has said as it registered. Nothing is left to one rank after that.
void Compressor::decide_in_order(const Call& call, bool is_grouped, Decision& made) {
  made.dtype = dtype_of(call.type);
  if (state_ != agree::State::kReady) {
    const agree::Outcome outcome = agreed_->wait_until_known();
    if (outcome != agree::Outcome::kKnown) {
      made.failure = outcome == agree::Outcome::kAborted ? ncclInvalidUsage : ncclRemoteError;
      return set_error(made.failure);
    }
    state_ = agreed_->state();  // asks for no memory, which this rank alone may lack
  }
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
  made.reason = call.raw_in_order;
  if (made.reason == 0) decide_collective(call, is_grouped, false, made);
  made.in_order = made.failure == ncclSuccess && !made.coded();
}

Plan* Compressor::plan_in_order(const Call& call, bool is_grouped, bool at_root) {
  PlanKey key = plan_key(call, ranks_, is_grouped || !blocks_);
  if (at_root) key.way = TW_STREAM_GATHER;
  key.codec = call.choice.codec[side_of(call)];
  tw_status why = TW_OK;
  Plan* const plan = plans_.take(stream_comm_, key, &why);
  if (plan == nullptr) set_error(ncclSystemError);
  return plan;
}

namespace {

// A part of a sum, with its plan; false: there is no memory.
class Parts {
 public:
  Parts(const Planned& whole, bool is_grouped) : whole_(whole), is_grouped_(is_grouped) {
    part_.call = whole.call;
    part_.compressor = whole.compressor;
    part_.counters = whole.counters;
    part_.communicator = whole.communicator;
    part_.decision.number = whole.decision.number;
    part_.decision.codec = whole.decision.codec;
    part_.decision.dtype = whole.decision.dtype;
  }

  // As many elements from `first` on, whose sums go to the result's `to` and after.
  bool add(std::uint64_t first, std::uint64_t count, std::uint64_t to) {
    const std::uint64_t size = element_bytes(whole_.call.type);
    Call& call = part_.call;
    call.elements = count;
    call.send = static_cast<const std::byte*>(whole_.call.send) + first * size;
    if (whole_.call.receive != nullptr)
      call.receive = static_cast<std::byte*>(whole_.call.receive) + to * size;
    part_.decision.plan = part_.compressor->plan_in_order(call, is_grouped_, at_root_);
    if (part_.decision.plan == nullptr) return false;
    made_.calls.push_back(part_);
    return true;
  }
  bool add_for(int root, std::uint64_t first, std::uint64_t count, std::uint64_t to) {
    at_root_ = true;
    part_.call.operation = kReduce;
    part_.call.peer = root;
    return add(first, count, to);
  }
  void end_step(std::size_t calls) {
    made_.steps.push_back({.coded = calls});
    ++part_.part;
  }

  Rest take() { return std::move(made_); }
  Rest give_up() {
    for (const Planned& each : made_.calls) each.decision.plan->users.fetch_sub(1);
    return {};
  }

 private:
  const Planned& whole_;
  const bool is_grouped_;
  bool at_root_ = false;
  Planned part_;
  Rest made_;
};

// Each part but the last has blocks that are all as long.
Rest array_in_parts(const Planned& whole, std::uint64_t ranks, Parts parts) {
  const std::uint64_t unit = kBlockUnit * ranks, all = whole.call.elements;
  const std::uint64_t most = kAtOnce / element_bytes(whole.call.type);
  const std::uint64_t at_once = std::max(most / unit, std::uint64_t{1}) * unit;
  for (std::uint64_t first = 0; first < all; first += at_once) {
    if (!parts.add(first, std::min(at_once, all - first), first)) return parts.give_up();
    parts.end_step(1);
  }
  return parts.take();
}

// The same of each rank's block: a part is a sum at each rank, all at once.
Rest blocks_in_parts(const Planned& whole, std::uint64_t ranks, Parts parts) {
  const std::uint64_t all = whole.call.elements;
  const std::uint64_t at_once = kBlocksAtOnce / (ranks * element_bytes(whole.call.type));
  for (std::uint64_t first = 0; first < all; first += at_once) {
    const std::uint64_t count = std::min(at_once, all - first);
    for (std::uint64_t root = 0; root < ranks; ++root) {
      if (!parts.add_for(static_cast<int>(root), root * all + first, count, first))
        return parts.give_up();
    }
    parts.end_step(ranks);
  }
  return parts.take();
}

}  // namespace

Rest in_order(const Planned& whole, bool is_grouped) {
  const auto ranks = static_cast<std::uint64_t>(whole.communicator->ranks);
  Parts parts(whole, is_grouped);
  if (whole.call.operation != kReduceScatter) return array_in_parts(whole, ranks, parts);
  const std::uint64_t bytes = ranks * whole.call.elements * element_bytes(whole.call.type);
  if (ranks <= kMostCut && bytes > kBlocksAtOnce) return blocks_in_parts(whole, ranks, parts);
  if (!parts.add(0, whole.call.elements, 0)) return parts.give_up();
  parts.end_step(1);
  return parts.take();
}

}  // namespace thinwire::nccl
