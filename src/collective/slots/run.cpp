#include "collective/slots/run.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "collective/slots/stage.h"

namespace thinwire::collective {
namespace {

bool is_aligned(const void* at, std::uintptr_t to) {
  return at != nullptr && reinterpret_cast<std::uintptr_t>(at) % to == 0;
}

}  // namespace

Status check(const SlotRun& run) {
  const SlotPlan& plan = *run.plan;
  const SlotCall& call = plan.call();
  const bool of_result = call.sample == SampleEncode::kResult;
  const bool writes = !plan.is_sample() && call.writes();
  if (call.count > 0 && call.reads() && !of_result && run.send == nullptr) {
    return {StatusCode::kInvalidArgument, "the call reads `send`, which is NULL"};
  }
  if (call.count > 0 && (writes || of_result) && run.receive == nullptr) {
    return {StatusCode::kInvalidArgument, "the call needs `receive`, which is NULL"};
  }
  if (plan.device_bytes() > 0 && !is_aligned(run.lent, 256)) {
    return {StatusCode::kInvalidArgument, "`device` is NULL or not aligned to 256 bytes"};
  }
  if (run.kept != nullptr && !is_aligned(run.kept, 256)) {
    return {StatusCode::kInvalidArgument, "`workspace` is not aligned to 256 bytes"};
  }
  if (!is_aligned(run.record, kLineBytes)) {
    return {StatusCode::kInvalidArgument, "`record` is NULL or not aligned to 64 bytes"};
  }
  if (plan.difference().exists && !is_aligned(run.references, 256)) {
    return {StatusCode::kInvalidArgument, "`references` is NULL or not aligned to 256 bytes"};
  }
  if (plan.needs_mailbox() && !is_mailbox(run.mailbox)) {
    return {StatusCode::kInvalidArgument, "`mailbox` is none that tw_mailbox_open() has made"};
  }
  return {};
}

void prepare_record(const SlotRun& run) {
  new (run.record) SlotRecord{.done = 0, .run = run};
  std::memset(run.record + kRecordHeadBytes, 0, record_bytes(*run.plan) - kRecordHeadBytes);
  if (!run.plan->bound().exists) return;
  BoundRecord& bound = bound_record_of(*run.plan, run.record);
  bound.plan = run.plan;
  bound.call = run.number;
}

namespace {

Status do_sample(const SlotPlan& plan, Stage& steps) {
  if (plan.bound().exists) {
    if (Status status = steps.tell(); !status.ok()) return status;
    if (Status status = steps.resolve(); !status.ok()) return status;
  }
  for (int number = 0; number < kMostExchanges; ++number) {
    if (Status status = steps.encode_all(number, false); !status.ok()) return status;
  }
  return {};
}

}  // namespace

Status do_stage(const SlotRun& run, int stage, SlotWork& work) {
  const SlotPlan& plan = *run.plan;
  const auto outcomes = lent_outcomes(run);
  Stage steps(run, work, outcomes.data());
  Status status = work.begin(workspace_of(run), outcomes, stage == 0 ? cleared_bytes(run) : 0);
  if (status.ok() && plan.tells_first()) {
    if (stage == 0) return steps.tell();
    if (stage == 1) status = steps.resolve();
  }
  // Those of the values: 0 encodes them.
  const int number = plan.tells_first() ? stage - 1 : stage;
  const bool last = stage == plan.stages() - 1;
  const bool sums = std::ranges::count(plan.sums(), number - 1, &SlotSum::after) > 0;
  const RunEnd end = steps.end();
  const bool differs = plan.difference().exists;
  const RunEnd* const ends = last && !differs ? &end : nullptr;
  // If nothing is opened or added, something else is the last step, and reports.
  const bool opens = number > 0 || sums;
  if (status.ok() && differs && stage == 0) status = steps.differ();
  if (status.ok() && plan.factors().exist && stage == 0) status = steps.write_factor();
  const bool has_come = differs && number == 1;  // what the ranks say, and what is in slots
  if (status.ok() && has_come) status = steps.match();
  if (status.ok()) status = steps.copy_rows(plan.unpacks(), number - 1);
  if (status.ok() && opens) status = steps.open_all(number - 1, ends);
  if (status.ok() && has_come && !last) status = steps.restore_some();
  if (plan.is_sample()) {
    if (status.ok()) status = do_sample(plan, steps);
  } else if (!last && status.ok()) {
    status = steps.copy_rows(plan.packs(), number);
    if (status.ok()) status = steps.encode_all(number, true);
  }
  if (status.ok() && differs && last) status = steps.restore();
  return status.ok() && last && (!opens || differs) ? work.report(end) : status;
}

namespace {

constexpr int kAnyRank = -1;

ByteView sent_by(const SlotRun& run, const SlotExchange& exchange, const SlotTask& task) {
  if (!task.is_raw) return {run.lent + task.slot, exchange.slot_bytes};
  return {values_of(run, is_staged(run, task) ? task.stage : task.values), task.raw_bytes};
}

Status post_messages(const SlotRun& run, const SlotExchange& exchange, int to, int from,
                     transport::StreamTransport& transport) {
  for (const SlotTask& task : exchange.out) {
    if (to != kAnyRank && task.rank != to) continue;
    const Status status = transport.send(task.rank, sent_by(run, exchange, task), run.stream);
    if (!status.ok()) return status;
  }
  for (const SlotTask& task : exchange.in) {
    if (from != kAnyRank && task.rank != from) continue;
    if (task.own) continue;
    MutableByteView into(run.lent + task.slot, exchange.slot_bytes);
    if (task.is_raw) into = {target_of(run, task.values), task.raw_bytes};
    if (Status status = transport.receive(task.rank, into, run.stream); !status.ok()) return status;
  }
  return {};
}

// Posts what the ranks say of their blocks' references.
Status post_said(const SlotRun& run, transport::StreamTransport& transport) {
  const SlotDifference& difference = run.plan->difference();
  const MutableByteView said(run.lent + difference.blocks, difference.key.blocks * kSlotUnit);
  return run.plan->call().operation == SlotOperation::kBcast
             ? transport.broadcast(run.plan->call().peer, said, run.stream)
             : transport.all_gather(said, run.stream);
}

}  // namespace

Status post_exchange(const SlotRun& run, int stage, transport::StreamTransport& transport) {
  if (run.plan->tells_first() && stage == 0) {
    const auto ranks = static_cast<std::uint64_t>(run.plan->call().ranks);
    return transport.all_gather({run.lent + run.plan->bound().blocks, ranks * kSlotUnit},
                                run.stream);
  }
  if (run.plan->difference().exists && stage == 0) {
    if (Status status = post_said(run, transport); !status.ok()) return status;
  }
  const SlotExchange& exchange = run.plan->exchange(run.plan->tells_first() ? stage - 1 : stage);
  const auto slot = [&](std::uint64_t at, std::uint64_t slots) {
    std::byte* const from = exchange.in_receive ? run.receive : run.lent;
    return MutableByteView(from + at, slots * exchange.slot_bytes);
  };
  if (exchange.kind == SlotExchange::Kind::kGather) {
    const auto ranks = static_cast<std::uint64_t>(run.plan->call().ranks);
    return transport.all_gather(slot(exchange.slots, ranks), run.stream);
  }
  if (exchange.kind == SlotExchange::Kind::kBroadcast) {
    return transport.broadcast(run.plan->call().peer, slot(exchange.slots, 1), run.stream);
  }
  return post_messages(run, exchange, kAnyRank, kAnyRank, transport);
}

// Each rank sends to the one that is so far before it, so each link carries a block each way.
Status post_round(const SlotRun& run, int stage, int round, transport::StreamTransport& transport) {
  const SlotPlan& plan = *run.plan;
  const int ranks = plan.call().ranks, rank = plan.call().rank, far = round + 1;
  return post_messages(run, plan.exchange(plan.tells_first() ? stage - 1 : stage),
                       (rank + far) % ranks, (rank + ranks - far) % ranks, transport);
}

}  // namespace thinwire::collective
