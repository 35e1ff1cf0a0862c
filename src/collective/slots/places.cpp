// Where a plan's slots and scratch lie in lent memory.
//
// An encode may write more than its slot: room for any frame lies behind the last slot of its kind,
// and what an encode writes behind its own slot is overwritten by the next one, or by what comes.
#include <algorithm>

#include "base/aligned.h"
#include "codec/job.h"
#include "collective/gpu/kernels.h"
#include "collective/slots/planner.h"
#include "message/message.h"
#include "slot/slot.h"

namespace thinwire::collective {

using namespace slot;

Status SlotPlanner::shape(SlotTask& task) {
  // Most blocks of a call are alike.
  const std::uint64_t count = task.shape.count();
  if (count == last_count_) {
    task.shape = last_shape_;
    task.room = last_room_;
    return {};
  }
  const auto shape = plan_.settings_.spec.shape_of(count);
  if (!shape.ok()) return shape.status();
  task.shape = *shape;
  const codec::Spec& spec = plan_.settings_.spec;
  const auto most = message::bound({spec.codec, spec.parameter}, plan_.settings_.array(task.shape));
  if (!most.ok()) return most.status();
  task.room = *most;
  const auto needs = needs_of_(plan_.settings_, task.shape);
  if (!needs.ok()) return needs.status();
  workspace_bytes_ = std::max(workspace_bytes_, needs->workspace_bytes);
  last_count_ = count;
  last_shape_ = task.shape;
  last_room_ = task.room;
  return {};
}

Status SlotPlanner::measure(SlotExchange& exchange) {
  const auto number = static_cast<std::size_t>(&exchange - plan_.exchanges_.data());
  std::uint64_t most = number == 1 ? longest_result_ : 0;
  for (std::vector<SlotTask>* const tasks : {&exchange.out, &exchange.in}) {
    for (SlotTask& task : *tasks) {
      if (Status status = shape(task); !status.ok()) return status;
      most = std::max(most, task.raw_bytes);
    }
  }
  exchange.slot_bytes = exchange.kind == Kind::kNone ? 0 : slot_bytes(most, call_.capacity[number]);
  return {};
}

// What comes lies first. What goes and what is decoded share the rest: it is sent by then.
void SlotPlanner::place_messages(SlotExchange& exchange) {
  std::uint64_t at = 0;
  for (SlotTask& task : exchange.in) {
    task.slot = at;
    at += exchange.slot_bytes;
  }
  used_ = scratch_at_ = at;
  for (SlotTask& task : exchange.out) {
    task.slot = at;
    at += exchange.slot_bytes;
    used_ = std::max({used_, at, task.slot + kSlotHeaderBytes + task.room});
  }
  used_ = aligned(used_);
}

void SlotPlanner::place_gathered(SlotExchange& exchange) {
  const bool gathers = exchange.kind == Kind::kGather;
  const auto at = [&](int of) {
    return gathers ? exchange.slot_bytes * static_cast<std::uint64_t>(of) : 0;
  };
  used_ = at(ranks());
  if (!gathers) used_ = exchange.slot_bytes;
  for (SlotTask& task : exchange.in) task.slot = at(task.rank);
  for (SlotTask& task : exchange.out) {
    task.slot = at(rank());
    used_ = std::max(used_, task.slot + kSlotHeaderBytes + task.room);
  }
  used_ = scratch_at_ = aligned(used_);
}

// One behind the other in the same room.
void SlotPlanner::place_trial(SlotExchange& exchange) {
  used_ = 0;
  for (SlotTask& task : exchange.out) {
    task.slot = 0;
    used_ = std::max(used_, aligned(kSlotHeaderBytes + task.room));
  }
  exchange.kind = Kind::kNone;
}

void SlotPlanner::place_scratch(std::uint64_t at) {
  const auto move = [&](Values& values) {
    if (values.area == Area::kLent) values.offset += at;
  };
  for (SlotTask& task : exchange(0).in) move(task.values);
  move(plan_.sum_.others);
}

// It is encoded into the slots of the second exchange, and sent from there once more where it does
// not fit: behind both.
void SlotPlanner::place_result(std::uint64_t at) {
  plan_.sum_.to.offset = at;
  for (SlotTask& task : exchange(1).out) task.values.offset = at;
}

void SlotPlanner::number_outcomes() {
  for (const int number : {0, 1}) {
    for (SlotTask& task : exchange(number).out) task.outcome = plan_.outcomes_++;
  }
  for (const int number : {0, 1}) {
    for (SlotTask& task : exchange(number).in) task.outcome = plan_.outcomes_++;
  }
}

// At a multiple of a block's size, as a transport may care.
void SlotPlanner::place_bound() {
  plan_.bound_.blocks = ceil_div(plan_.end_, kSlotUnit) * kSlotUnit;
  plan_.bound_.scratch = plan_.bound_.blocks + kSlotUnit * static_cast<std::uint64_t>(ranks());
  plan_.end_ = plan_.bound_.scratch + aligned(kMostKeyRanges * sizeof(KeyRange));
}

Status SlotPlanner::measure() {
  std::uint64_t end = 0;
  for (const int number : {0, 1}) {
    SlotExchange& each = exchange(number);
    if (Status status = measure(each); !status.ok()) return status;
    if (plan_.is_trial()) {
      place_trial(each);
    } else if (each.kind == Kind::kMessages) {
      place_messages(each);
    } else {
      place_gathered(each);
    }
    if (number == 0) {
      place_scratch(scratch_at_);
      used_ = std::max(used_, aligned(scratch_at_ + scratch_bytes_));
    }
    // The second exchange takes the place of the first, which is over by then.
    end = std::max(end, used_);
  }
  if (result_bytes_ > 0) place_result(end);
  end += aligned(result_bytes_);
  number_outcomes();
  plan_.workspace_ = end;
  plan_.outcomes_at_ = end + aligned(workspace_bytes_);
  plan_.end_ = plan_.outcomes_at_ + aligned((plan_.outcomes_ + 1) * sizeof(device::Outcome));
  const codec::DeviceCodec* const coder = plan_.settings_.spec.codec->device;
  if (coder == nullptr || coder->leaves_zeros) plan_.kept_bytes_ = plan_.end_ - plan_.workspace_;
  if (plan_.bound_.exists) place_bound();
  return {};
}

}  // namespace thinwire::collective
