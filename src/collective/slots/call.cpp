#include "collective/slots/call.h"

#include <algorithm>

#include "slot/slot.h"

namespace thinwire::collective {

using namespace slot;
namespace {

// Up to here an exchange of whole arrays costs less than a second exchange (spec/slot.md).
constexpr std::uint64_t kMostGathered = 64 * 1024;
// Blocks of sums begin where vectors of any width do.
constexpr std::uint64_t kBlockUnit = 1024;

bool is_message(SlotOperation operation) {
  return operation == SlotOperation::kSend || operation == SlotOperation::kReceive;
}

bool has_peer(SlotOperation operation) {
  return is_message(operation) || operation == SlotOperation::kBcast ||
         operation == SlotOperation::kGather || operation == SlotOperation::kScatter ||
         operation == SlotOperation::kReduce;
}

Status check_capacities(const SlotCall& call) {
  if (call.sample != SampleEncode::kNone) return {};
  for (const std::uint32_t capacity : call.capacity) {
    if (capacity < 1 || capacity > kWholeCapacity) {
      return {StatusCode::kInvalidArgument, "a slot's capacity is 1 to 512 of 512"};
    }
  }
  return {};
}

Status check_spec(const SlotCall& call) {
  using Kind = codec::Spec::Kind;
  if (call.spec.kind == Kind::kOff) {
    return {StatusCode::kUnsupported, "\"off\" encodes nothing; a raw call needs no slots"};
  }
  if (call.spec.reductions_alone && !call.reduces()) {
    return {StatusCode::kUnsupported, "the spec names a codec for reductions alone"};
  }
  if (call.spec.fill.exists()) {
    return {StatusCode::kUnsupported, "missing values are not coded in stream order: no fill="};
  }
  const bool bounded = call.reduces() && call.spec.result_bound.exists();
  if (bounded && call.premultiplied) {
    return {StatusCode::kUnsupported, "no result of a pre-multiplied sum is bounded"};
  }
  if (bounded && (call.spec.codec->any_open == 0 || !(call.scale > 1e-6))) {
    return {StatusCode::kUnsupported, "the codec takes no bound that is found out in stream order"};
  }
  return {};
}

}  // namespace

bool SlotCall::reads() const {
  if (operation == SlotOperation::kReceive) return false;
  const bool of_root = operation == SlotOperation::kBcast || operation == SlotOperation::kScatter;
  return !of_root || rank == peer;
}

bool SlotCall::writes() const {
  if (operation == SlotOperation::kSend) return false;
  const bool at_root = operation == SlotOperation::kGather || operation == SlotOperation::kReduce;
  return !at_root || rank == peer;
}

bool SlotCall::is_raw() const {
  const bool is_whole = capacity[0] == kWholeCapacity && capacity[1] == kWholeCapacity;
  return keeps_order() && is_whole && sample == SampleEncode::kNone;
}

SlotWay way_of(const SlotCall& call) {
  // Raw values that all ranks gather show no factor.
  const bool shows_factors = call.is_raw() && call.premultiplied;
  if (shows_factors && call.operation == SlotOperation::kAllreduce) return SlotWay::kDirect;
  if (call.way != SlotWay::kPlanned) return call.way;
  const bool small = call.bytes_of(call.count) <= kMostGathered;
  return call.ranks <= 2 || small ? SlotWay::kGather : SlotWay::kDirect;
}

namespace {

Partition in_units(std::uint64_t count, std::uint64_t blocks) {
  return {.total = count, .step = ceil_div(ceil_div(count, blocks), kBlockUnit) * kBlockUnit};
}

}  // namespace

Partition partition_of(const SlotCall& call) {
  const auto ranks = static_cast<std::uint64_t>(call.ranks);
  const bool in_blocks = call.operation == SlotOperation::kReduceScatter ||
                         call.operation == SlotOperation::kAllgather;
  if (in_blocks) {
    return {.total = call.count * ranks, .step = call.count};
  }
  return in_units(call.count, ranks);
}

Partition partition_by_columns(const SlotCall& call) {
  const SlotNodes& nodes = *call.nodes;
  Partition blocks =
      in_units(call.count, static_cast<std::uint64_t>(nodes.count() * nodes.columns()));
  blocks.by_local = &nodes;
  return blocks;
}

Status check(const SlotCall& call) {
  if (call.nodes && call.nodes->ranks() != call.ranks) {
    return {StatusCode::kInvalidArgument, "each rank has a node"};
  }
  if (call.dtype == Dtype::kBytes) {
    return {StatusCode::kUnsupported, "slots hold floating-point values alone"};
  }
  if (call.reduces() && !is_added(call.dtype)) {
    return {StatusCode::kUnsupported, std::string(dtype_name(call.dtype)) + " cannot be reduced"};
  }
  if (has_peer(call.operation) && (call.peer < 0 || call.peer >= call.ranks)) {
    return {StatusCode::kInvalidArgument, "the root or peer is no rank of the communicator"};
  }
  if (is_message(call.operation) && call.peer == call.rank) {
    return {StatusCode::kInvalidArgument, "a rank sends nothing to itself in slots"};
  }
  if (call.premultiplied && !call.reduces()) {
    return {StatusCode::kInvalidArgument, "only what is added has factors"};
  }
  if (call.as_is &&
      (call.operation != SlotOperation::kSend || call.sample != SampleEncode::kNone)) {
    return {StatusCode::kInvalidArgument, "only messages are sent as they are"};
  }
  // All arrays together have slots, room and scratch.
  const std::uint64_t most = UINT64_MAX / 64 / static_cast<std::uint64_t>(call.ranks) / 8;
  if (call.count > most) return {StatusCode::kInvalidArgument, "the array is too large"};
  if (call.sample == SampleEncode::kResult &&
      (!call.sums_whole_arrays() || !call.writes() || way_of(call) != SlotWay::kDirect)) {
    return {StatusCode::kInvalidArgument,
            "only ranks that get what is summed in two exchanges have results to try"};
  }
  if (Status status = check_capacities(call); !status.ok()) return status;
  return check_spec(call);
}

}  // namespace thinwire::collective
