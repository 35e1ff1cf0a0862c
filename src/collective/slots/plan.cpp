#include "collective/slots/plan.h"

#include <algorithm>

#include "collective/slots/planner.h"

namespace thinwire::collective {

Result<std::unique_ptr<SlotPlan>> SlotPlan::make(const SlotCall& call, NeedsOf needs_of) {
  std::unique_ptr<SlotPlan> plan(new SlotPlan(call));
  if (Status status = check(plan->call_); !status.ok()) return status;
  if (Status status = SlotPlanner(*plan, needs_of).build(); !status.ok()) return status;
  return plan;
}

int SlotPlan::exchanges() const {
  int count = 0;
  for (const SlotExchange& exchange : exchanges_)
    count += exchange.kind != SlotExchange::Kind::kNone;
  return count;
}

int SlotPlan::rounds(int stage) const {
  const int number = stage - (tells_first() ? 1 : 0);
  const bool has_rounds = number >= 0 &&
                          (call_.reduces() || call_.operation == SlotOperation::kAlltoall) &&
                          exchange(number).kind == SlotExchange::Kind::kMessages;
  return call_.rounds && has_rounds && !in_levels_ ? call_.ranks - 1 : 1;
}

std::uint64_t SlotPlan::raw_bytes() const {
  std::uint64_t bytes = 0;
  const auto others = static_cast<std::uint64_t>(call_.ranks - 1);
  for (const SlotExchange& exchange : exchanges_) {
    if (exchange.kind == SlotExchange::Kind::kNone) continue;
    const std::uint64_t each = exchange.kind == SlotExchange::Kind::kGather ? others : 1;
    for (const SlotTask& task : exchange.out) bytes += task.is_raw ? 0 : each * task.raw_bytes;
  }
  return bytes;
}

std::uint64_t SlotPlan::wire_bytes() const {
  std::uint64_t bytes = 0;
  for (const SlotExchange& exchange : exchanges_) {
    const bool gathers = exchange.kind == SlotExchange::Kind::kGather;
    if (exchange.kind == SlotExchange::Kind::kNone || exchange.is_raw()) continue;
    const auto sent = std::ranges::count(exchange.out, false, &SlotTask::is_raw);
    const auto slots = static_cast<std::uint64_t>(gathers ? call_.ranks - 1 : sent);
    bytes += slots * exchange.slot_bytes;
  }
  return bytes;
}

std::uint64_t SlotPlan::plain_bytes() const {
  std::uint64_t bytes = 0;
  for (const SlotExchange& exchange : exchanges_) {
    for (const SlotTask& task : exchange.out) bytes += task.is_raw ? task.raw_bytes : 0;
    if (exchange.is_raw())
      bytes += static_cast<std::uint64_t>(call_.ranks - 1) * exchange.slot_bytes;
  }
  return bytes;
}

std::uint64_t SlotPlan::slot_bytes(int coded) const {
  for (const SlotExchange& exchange : exchanges_) {
    const bool has_slots = exchange.kind != SlotExchange::Kind::kNone && !exchange.inside;
    if (has_slots && exchange.coded == coded) return exchange.slot_bytes;
  }
  return 0;
}

}  // namespace thinwire::collective
