#include "collective/slots/planner.h"

#include "base/bytes.h"
#include "message/automatic.h"

namespace thinwire::collective {

// "auto" goes by dtype and shape, which all ranks know alike.
Status SlotPlanner::choose_coder(std::uint64_t count) {
  EngineSettings& settings = plan_.settings_;
  settings.spec = call_.spec;
  settings.dtype = call_.dtype;
  settings.mark = call_.mark;
  if (call_.spec.kind != codec::Spec::Kind::kAuto) return {};
  const codec::Chunk array{call_.dtype, Shape::line(count)};
  const message::Coder coder = message::automatic_in_stream(array);
  settings.spec.kind = codec::Spec::Kind::kCodec;
  settings.spec.codec = coder.codec;
  settings.spec.parameter = coder.parameter;
  return {};
}

SlotTask SlotPlanner::task(int number, int from, std::uint64_t count, int peer, Values values) {
  SlotTask made;
  made.rank = peer;
  made.block = static_cast<std::uint64_t>(from) +
               static_cast<std::uint64_t>(number) * static_cast<std::uint64_t>(ranks());
  made.shape = Shape::line(count);
  made.raw_bytes = bytes_of(count);
  made.values = values;
  return made;
}

SlotTask SlotPlanner::raw_task(int peer, std::uint64_t count, Values values) {
  SlotTask made = task(0, rank(), count, peer, values);
  made.is_raw = true;
  return made;
}

SlotTask SlotPlanner::message(int number, int from, std::uint64_t count, int peer, Values values) {
  SlotTask made = task(number, from, count, peer, values);
  const bool inside = nodes_ != nullptr && nodes_->are_together(rank(), peer);
  made.is_raw = inside || call_.is_raw();
  return made;
}

Values SlotPlanner::keep(std::uint64_t bytes) {
  const Values kept{Area::kStays, stays_bytes_};
  stays_bytes_ += aligned(bytes);
  return kept;
}

void SlotPlanner::add_own(int number, SlotTask own, Values source, bool stays_in_place) {
  own.own = true;
  own.source = source;
  own.stays_in_place = stays_in_place;
  exchange(number).in.push_back(own);
}

// The values of this rank that others get: their differences, if the call has any. For lossless
// codecs alone: others would hold what a codec made of a difference.
Values SlotPlanner::differences(Values values) {
  const ReferenceKey key{
      .what = static_cast<std::uint64_t>(call_.operation) |
              static_cast<std::uint64_t>(call_.dtype) << 8 |
              static_cast<std::uint64_t>(call_.peer) << 16,
      .block_bytes = bytes_of(call_.count),
      .blocks = call_.operation == SlotOperation::kBcast ? 1 : static_cast<std::uint64_t>(ranks())};
  const bool has_room = call_.reference_bytes >= kReferenceTableBytes &&
                        key.bytes() <= call_.reference_bytes - kReferenceTableBytes;
  if (!has_room || !is_lossless() || plan_.is_sample()) return values;
  SlotDifference& difference = plan_.difference_;
  difference.exists = true;
  difference.key = key;
  difference.sends = call_.operation != SlotOperation::kBcast || rank() == call_.peer;
  difference.own = key.blocks == 1 ? 0 : static_cast<std::uint64_t>(rank());
  if (difference.sends) difference.values = keep(key.block_bytes);
  return difference.sends ? difference.values : values;
}

// Nobody else is there: nothing is encoded.
void SlotPlanner::alone() {
  if (call_.reduces()) {
    plan_.sums_ = {{.after = -1,
                    .scale = call_.scale,
                    .count = call_.count,
                    .stride = 0,
                    .others = {},
                    .own = {Area::kSend, 0},
                    .to = {Area::kReceive, 0},
                    .own_apart = true}};
  } else {
    plan_.copy_ = {{Area::kReceive, 0}, {Area::kSend, 0}, bytes_of(call_.count)};
  }
}

// Keeps the encodes of a call that is only tried. The root alone has the result of a Reduce, which
// others would encode.
void SlotPlanner::keep_sample() {
  const int tried = call_.sample == SampleEncode::kResult ? 1 : 0;
  for (SlotExchange& each : plan_.exchanges_) {
    const bool of_others = call_.operation == SlotOperation::kReduce && tried == 1;
    if (of_others) each.out = each.in;
    if (each.coded != tried) each.out.clear();
    std::erase_if(each.out, [](const SlotTask& task) { return task.is_raw || task.again; });
    each.in.clear();
  }
  plan_.copy_ = {};
  plan_.sums_.clear();
  plan_.factors_ = {};
  plan_.packs_.clear();
  plan_.unpacks_.clear();
  scratch_bytes_ = {};
  stays_bytes_ = 0;
}

Status SlotPlanner::build() {
  if (call_.count == 0) return {};
  if (Status status = choose_coder(call_.count); !status.ok()) return status;
  plan_.way_ = way_of(call_);
  plan_.in_levels_ = has_levels();
  if (ranks() == 1) {
    if (!plan_.is_sample()) alone();
    return {};
  }
  switch (call_.operation) {
    case SlotOperation::kAllgather:
      has_levels() ? gather_in_levels(0, partition_of(call_), {Area::kSend, 0},
                                      differences({Area::kSend, 0}))
                   : allgather();
      break;
    case SlotOperation::kBcast:
      bcast();
      break;
    case SlotOperation::kSend:
    case SlotOperation::kReceive:
      send_or_receive();
      break;
    case SlotOperation::kAlltoall:
      alltoall();
      break;
    case SlotOperation::kGather:
      gather();
      break;
    case SlotOperation::kScatter:
      scatter();
      break;
    case SlotOperation::kReduceScatter:
      has_levels() ? reduce_scatter_in_levels(partition_of(call_))
                   : reduce_scatter(partition_of(call_));
      break;
    case SlotOperation::kAllreduce:
      plan_.way_ == SlotWay::kGather ? allreduce_gathered() : sum_in_blocks();
      break;
    case SlotOperation::kReduce:
      plan_.way_ == SlotWay::kGather ? reduce_gathered() : sum_in_blocks();
      break;
  }
  if (plan_.is_sample()) keep_sample();
  if (call_.reduces() && call_.spec.result_bound.exists()) bound_result();
  return measure();
}

}  // namespace thinwire::collective
