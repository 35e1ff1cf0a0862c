// Places of a plan's slots and scratch in lent memory.
//
// An encode may write more than its slot: room for any frame lies after the last slot of its kind,
// and what an encode writes after its own slot is overwritten by the next one, or by what comes.
#include <algorithm>

#include "base/bytes.h"
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
  workspace_bytes_ = std::max(workspace_bytes_, *needs);
  last_count_ = count;
  last_shape_ = task.shape;
  last_room_ = task.room;
  return {};
}

Status SlotPlanner::measure(SlotExchange& exchange) {
  if (exchange.is_raw()) return {};
  const auto coded = static_cast<std::size_t>(exchange.coded);
  std::uint64_t most = coded == 1 ? longest_result_ : 0;
  for (std::vector<SlotTask>* const tasks : {&exchange.out, &exchange.in}) {
    for (SlotTask& task : *tasks) {
      // Also a block that is raw here: it need not be on other ranks, whose slots are as long.
      most = std::max(most, task.raw_bytes);
      if (task.is_raw) continue;
      if (Status status = shape(task); !status.ok()) return status;
    }
  }
  exchange.slot_bytes = exchange.kind == Kind::kNone ? 0 : slot_bytes(most, call_.capacity[coded]);
  return {};
}

// A codec that cannot code the others' blocks is refused by every rank.
Status SlotPlanner::measure_for_others() {
  if (coded_count_ == 0) return {};
  SlotTask any;
  any.shape = Shape::line(coded_count_);
  return shape(any);
}

// Places messages. Those that come lie first. Those that go and what is decoded share the rest: it
// is sent by then. Raw values come meanwhile, though.
void SlotPlanner::place_messages(SlotExchange& exchange) {
  std::uint64_t at = 0;
  bool comes_raw = false;
  for (SlotTask& task : exchange.in) {
    comes_raw = comes_raw || (task.is_raw && task.values.area == Area::kLent);
    if (task.is_raw || task.own) continue;
    task.slot = at;
    at += exchange.slot_bytes;
  }
  used_ = scratch_at_ = at;
  std::uint64_t last = at;
  for (SlotTask& task : exchange.out) {
    if (task.is_raw) continue;
    if (!task.again) {
      last = at;
      at += exchange.slot_bytes;
    }
    task.slot = last;
    used_ = std::max({used_, at, task.slot + kSlotHeaderBytes + task.room});
  }
  used_ = aligned(used_);
  for (SlotTask& task : exchange.in) {
    if (task.own) task.slot = last;
  }
  if (comes_raw) scratch_at_ = used_;
}

void SlotPlanner::place_gathered(SlotExchange& exchange) {
  if (exchange.is_raw()) {
    used_ = scratch_at_ = 0;
    return;
  }
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

// One after the other in the same room.
void SlotPlanner::place_sample(SlotExchange& exchange) {
  used_ = 0;
  for (SlotTask& task : exchange.out) {
    task.slot = 0;
    used_ = std::max(used_, aligned(kSlotHeaderBytes + task.room));
  }
  exchange.kind = Kind::kNone;
}

void SlotPlanner::place_scratch(int number, std::uint64_t at) {
  const auto move = [&](Values& values) {
    if (values.area == Area::kLent) values.offset += at;
  };
  for (SlotTask& task : exchange(number).in) move(task.values);
  for (SlotSum& sum : plan_.sums_) {
    if (sum.after == number) move(sum.others);
  }
}

// Comes after what all exchanges need. Values are encoded from there, and sent once more if they
// do not fit.
void SlotPlanner::place_what_stays(std::uint64_t at) {
  const auto move = [&](Values& values) {
    if (values.area == Area::kStays) values = {Area::kLent, values.offset + at};
  };
  for (SlotExchange& each : plan_.exchanges_) {
    if (each.stays) each.slots += at;
    for (std::vector<SlotTask>* const tasks : {&each.out, &each.in}) {
      for (SlotTask& task : *tasks) {
        move(task.values);
        move(task.source);
        move(task.stage);
      }
    }
  }
  for (SlotSum& sum : plan_.sums_) {
    move(sum.others);
    move(sum.own);
    move(sum.to);
  }
  for (std::vector<SlotRows>* const copies : {&plan_.packs_, &plan_.unpacks_}) {
    for (SlotRows& rows : *copies) {
      move(rows.to);
      move(rows.from);
    }
  }
  move(plan_.factors_.own);
  move(plan_.factors_.others);
  move(plan_.copy_.from);
  move(plan_.difference_.values);
}

// Numbers outcomes. Messages that go as they are have none. Those of messages that come with an
// exchange follow each other.
void SlotPlanner::number_outcomes() {
  const auto number = [&](SlotTask& task) {
    if (!task.is_raw) task.outcome = task.again ? plan_.outcomes_ - 1 : plan_.outcomes_++;
  };
  for (SlotExchange& each : plan_.exchanges_) std::ranges::for_each(each.out, number);
  for (SlotExchange& each : plan_.exchanges_) std::ranges::for_each(each.in, number);
  if (plan_.difference_.exists) plan_.difference_.outcome = plan_.outcomes_++;
}

// At a multiple of a block's size, as a transport may care.
void SlotPlanner::place_bound() {
  plan_.bound_.blocks = ceil_div(plan_.end_, kSlotUnit) * kSlotUnit;
  plan_.bound_.scratch = plan_.bound_.blocks + kSlotUnit * static_cast<std::uint64_t>(ranks());
  plan_.end_ = plan_.bound_.scratch + aligned(kMostKeyRanges * sizeof(KeyRange));
}

void SlotPlanner::place_difference() {
  SlotDifference& difference = plan_.difference_;
  difference.blocks = ceil_div(plan_.end_, kSlotUnit) * kSlotUnit;
  difference.found = difference.blocks + kSlotUnit * difference.key.blocks;
  plan_.end_ = difference.found + aligned((difference.key.blocks + 1) * sizeof(std::uint64_t));
}

// The most blocks that an exchange codes each way, or as many as the codec's GPU side takes.
int SlotPlanner::most_at_once() const {
  const codec::Codec& coder = *plan_.settings_.spec.codec;
  const bool takes_blocks = coder.device != nullptr && coder.device->takes_blocks &&
                            !coder.open(plan_.settings_.spec.parameter);
  if (!takes_blocks || plan_.is_sample() || call_.as_is) return 1;
  const auto coded = [](const SlotTask& task) { return !task.is_raw && !task.again; };
  std::ptrdiff_t most = 1;
  for (const SlotExchange& each : plan_.exchanges_) {
    most = std::max(
        {most, std::ranges::count_if(each.out, coded), std::ranges::count_if(each.in, coded)});
  }
  return static_cast<int>(std::min<std::ptrdiff_t>(most, codec::Blocks::kMost));
}

Status SlotPlanner::measure() {
  std::uint64_t end = 0;
  if (Status status = measure_for_others(); !status.ok()) return status;
  for (int number = 0; number < kMostExchanges; ++number) {
    SlotExchange& each = exchange(number);
    if (each.kind == Kind::kNone) break;
    if (Status status = measure(each); !status.ok()) return status;
    if (plan_.is_sample()) {
      place_sample(each);
    } else if (each.kind == Kind::kMessages) {
      place_messages(each);
    } else {
      place_gathered(each);
    }
    const std::uint64_t scratch = scratch_bytes_[static_cast<std::size_t>(number)];
    place_scratch(number, scratch_at_);
    used_ = std::max(used_, aligned(scratch_at_ + scratch));
    // The next exchange takes its place, as it is over by then.
    end = std::max(end, used_);
  }
  place_what_stays(end);
  end += stays_bytes_;
  number_outcomes();
  plan_.workspace_ = end;
  plan_.blocks_at_once_ = most_at_once();
  plan_.workspace_stride_ = aligned(workspace_bytes_);
  const auto at_once = static_cast<std::uint64_t>(plan_.blocks_at_once_);
  plan_.outcomes_at_ = end + plan_.workspace_stride_ * at_once;
  plan_.end_ = plan_.outcomes_at_ + aligned((plan_.outcomes_ + 1) * sizeof(device::Outcome));
  const codec::DeviceCodec* const coder = plan_.settings_.spec.codec->device;
  if (coder == nullptr || coder->leaves_zeros) plan_.kept_bytes_ = plan_.end_ - plan_.workspace_;
  if (plan_.bound_.exists) place_bound();
  if (plan_.difference_.exists) place_difference();
  return {};
}

}  // namespace thinwire::collective
