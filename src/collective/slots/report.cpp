// The report of a run, from its record.
#include <algorithm>
#include <atomic>
#include <string>

#include "collective/slots/run.h"

namespace thinwire::collective {
namespace {

using device::Outcome;

Status status_of(Outcome outcome) {
  switch (device::outcome_status(outcome)) {
    case StatusCode::kOk:
      return {};
    case StatusCode::kDamaged:
      return {StatusCode::kDamaged,
              "a slot that came was damaged, or none of this call; the values are NaN"};
    case StatusCode::kInternal:
      break;
    default:
      return {StatusCode::kInternal, std::string("a rank could not code its values: ") +
                                         status_text(device::outcome_status(outcome))};
  }
  if (device::outcome_bytes(outcome) == static_cast<std::uint64_t>(SlotFailure::kAborted)) {
    return {StatusCode::kInternal, "a mailbox was aborted while a block was under way in it"};
  }
  return {StatusCode::kInternal, "a rank could not have its values; they are NaN"};
}

void add_out(const SlotPlan& plan, int number, const Outcome* outcomes, SlotReport& report) {
  const SlotExchange& exchange = plan.exchange(number);
  std::uint32_t& needed = report.needed[static_cast<std::size_t>(exchange.coded)];
  for (const SlotTask& task : exchange.out) {
    if (task.is_raw || task.again) continue;
    const Outcome outcome = outcomes[task.outcome];
    StatusCode code = device::outcome_status(outcome);
    if (plan.call().as_is && code != StatusCode::kInternal) code = StatusCode::kDeclined;
    const bool framed = code == StatusCode::kOk;
    const std::uint64_t frame = framed ? device::outcome_bytes(outcome) : task.raw_bytes;
    ++report.encoded;
    report.declined += is_declined(code);
    report.raw_bytes += task.raw_bytes;
    report.frame_bytes += frame;
    needed = std::max(needed, needed_capacity(task.raw_bytes, frame));
    const bool fits = framed && frame + kSlotHeaderBytes <= exchange.slot_bytes;
    report.spilled_out += !plan.is_sample() && !fits && (framed || is_declined(code));
    if (!framed && !is_declined(code) && report.status.ok()) report.status = status_of(outcome);
  }
}

void add_in(const SlotPlan& plan, int number, const Outcome* outcomes, SlotReport& report) {
  for (const SlotTask& task : plan.exchange(number).in) {
    if (task.is_raw) continue;
    const Outcome outcome = outcomes[task.outcome];
    const Status status = status_of(outcome);
    if (!status.ok() && report.status.ok()) report.status = status;
    report.spilled_in += status.ok() && !task.own && device::outcome_bytes(outcome) > 0;
  }
}

// Adds the outcome's bytes of blocks that came as differences.
void add_difference(Outcome outcome, SlotReport& report) {
  if (device::outcome_status(outcome) == StatusCode::kOk) {
    report.difference_bytes = device::outcome_bytes(outcome);
  } else if (report.status.ok()) {
    report.status = {StatusCode::kDamaged,
                     "a block came as a difference from a result that this rank does not have; the "
                     "values are NaN"};
  }
}

}  // namespace

SlotReport check_record(const SlotPlan& plan, const std::byte* record) {
  SlotReport report;
  auto* const own = const_cast<std::byte*>(record);
  Outcome& done = record_at(own).done;
  if (std::atomic_ref<Outcome>(done).load(std::memory_order_acquire) == 0) return report;
  report.complete = true;
  const Outcome* const outcomes = outcomes_of(own);
  // A block that came damaged is the cause of what could not be sent.
  for (int number = 0; number < kMostExchanges; ++number) add_in(plan, number, outcomes, report);
  for (int number = 0; number < kMostExchanges; ++number) add_out(plan, number, outcomes, report);
  if (plan.difference().exists) add_difference(outcomes[plan.difference().outcome], report);
  return report;
}

}  // namespace thinwire::collective
