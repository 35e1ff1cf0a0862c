#include "collective/slots/run.h"

#include <array>
#include <cstring>
#include <new>

namespace thinwire::collective {
namespace {

using Area = Values::Area;

const std::byte* values_of(const SlotRun& run, const Values& values) {
  switch (values.area) {
    case Area::kSend:
      return run.send + values.offset;
    case Area::kReceive:
      return run.receive + values.offset;
    case Area::kLent:
      break;
  }
  return run.lent + values.offset;
}

// Never of what the user only lends to be read.
std::byte* target_of(const SlotRun& run, const Values& values) {
  return (values.area == Area::kReceive ? run.receive : run.lent) + values.offset;
}

class Stage {
 public:
  Stage(const SlotRun& run, SlotWork& work, device::Outcome* outcomes)
      : run_(run), plan_(*run.plan), work_(work), outcomes_(outcomes) {
    if (plan_.bound().exists) bound_ = &bound_record_of(plan_, run.record);
  }

  Status tell() {
    const SlotBound& bound = plan_.bound();
    const SlotCall& call = plan_.call();
    const auto own = static_cast<std::uint64_t>(plan_.is_trial() ? 0 : call.rank);
    return work_.tell({.values = values_of(run_, bound.values),
                       .count = bound.count,
                       .call = run_.number,
                       .rank = call.rank,
                       .block = run_.lent + bound.blocks + own * kSlotUnit,
                       .scratch = run_.lent + bound.scratch});
  }

  Status resolve() {
    return work_.resolve(run_.lent + plan_.bound().blocks, told_ranks(plan_),
                         bound_record_of(plan_, run_.record));
  }

  Status encode_all(int number) {
    for (const SlotTask& task : plan_.exchange(number).out) {
      std::byte* const frame = run_.lent + task.slot + kSlotHeaderBytes;
      Status status = work_.encode(values_of(run_, task.values), task.shape, {frame, task.room},
                                   outcomes_ + task.outcome, bound_);
      if (!status.ok()) return status;
    }
    return {};
  }

  // Behind all encodes, which write into the slots behind their own.
  Status seal_all(int number) {
    std::span<const device::Outcome> before;
    if (const auto& came = plan_.exchange(0).in; number == 1 && !came.empty()) {
      before = {outcomes_ + came.front().outcome, came.size()};
    }
    const SlotExchange& exchange = plan_.exchange(number);
    std::array<SealStep, kMostSteps> steps;
    std::size_t count = 0;
    for (const SlotTask& task : exchange.out) {
      steps[count++] = {place_of(exchange, task), values_of(run_, task.values)};
      if (count < kMostSteps && &task != &exchange.out.back()) continue;
      if (Status status = work_.seal({steps.data(), count}, before); !status.ok()) return status;
      count = 0;
    }
    return {};
  }

  // Reports as well where that is all that is left to do, and `end` says how.
  Status open_all(int number, const RunEnd* end) {
    const SlotExchange& exchange = plan_.exchange(number);
    for (const SlotTask& task : exchange.in) {
      if (is_there(task)) continue;
      std::byte* const to = target_of(run_, task.values);
      Status status = work_.open(place_of(exchange, task), task.shape, to);
      if (!status.ok()) return status;
    }
    std::array<FinishStep, kMostSteps> steps;
    std::size_t count = 0;
    for (const SlotTask& task : exchange.in) {
      if (is_there(task)) continue;
      if (count == kMostSteps) {
        if (Status status = work_.finish(steps, nullptr); !status.ok()) return status;
        count = 0;
      }
      steps[count++] = {place_of(exchange, task), &task.shape, target_of(run_, task.values),
                        task.own ? values_of(run_, task.source) : nullptr};
    }
    if (count > 0) return work_.finish({steps.data(), count}, end);
    return end == nullptr ? Status() : work_.report(*end);
  }

  Status copy_own() {
    const SlotCopy& copy = plan_.copy();
    if (copy.bytes == 0) return {};
    const std::byte* const from = values_of(run_, copy.from);
    std::byte* const to = target_of(run_, copy.to);
    return from == to ? Status() : work_.steps().copy(to, from, copy.bytes);
  }

  Status sum() {
    const SlotSum& sum = plan_.sum();
    if (!sum.exists) return {};
    Operands arrays;
    arrays.first = values_of(run_, sum.others);
    arrays.stride = sum.stride;
    arrays.count = plan_.call().ranks;
    if (sum.own_apart) {
      arrays.own = plan_.call().rank;
      arrays.own_at = values_of(run_, sum.own);
    }
    if (plan_.call().premultiplied) arrays.factors = factors();
    return work_.sum(arrays, sum.count, plan_.call().scale, target_of(run_, sum.to));
  }

 private:
  // This rank's own values, where they are to be.
  bool is_there(const SlotTask& task) const {
    return task.own && task.stays_in_place &&
           values_of(run_, task.source) == target_of(run_, task.values);
  }

  // The headers of the first exchange, which stay until the second begins.
  Factors factors() const {
    const SlotExchange& came = plan_.exchange(0);
    const bool gathered = came.kind == SlotExchange::Kind::kGather;
    return {.exist = true,
            .first = run_.lent + came.slots + kSlotFactorAt,
            .stride = came.slot_bytes,
            .own = gathered ? -1 : plan_.call().rank,
            .own_factor = run_.factor};
  }

  SlotPlace place_of(const SlotExchange& exchange, const SlotTask& task) const {
    const bool multiplied = plan_.call().premultiplied && &exchange == &plan_.exchange(0);
    return {.slot = {run_.lent + task.slot, exchange.slot_bytes},
            .tag = {.call = run_.number,
                    .block = task.block,
                    .raw_bytes = task.raw_bytes,
                    .factor = multiplied ? run_.factor : SlotFactor{}},
            .rank = task.rank,
            .mailbox = run_.mailbox,
            .outcome = outcomes_ + task.outcome};
  }

  const SlotRun& run_;
  const SlotPlan& plan_;
  SlotWork& work_;
  device::Outcome* outcomes_;
  const BoundRecord* bound_ = nullptr;
};

bool is_aligned(const void* at, std::uintptr_t to) {
  return at != nullptr && reinterpret_cast<std::uintptr_t>(at) % to == 0;
}

bool reads(const SlotCall& call) {
  if (call.operation == SlotOperation::kReceive) return false;
  return call.operation != SlotOperation::kBcast || call.rank == call.peer;
}

}  // namespace

Status check(const SlotRun& run) {
  const SlotPlan& plan = *run.plan;
  const SlotCall& call = plan.call();
  const bool of_result = call.trial == SlotTrial::kResult;
  const bool writes = !plan.is_trial() && call.operation != SlotOperation::kSend;
  if (call.count > 0 && reads(call) && !of_result && run.send == nullptr) {
    return {StatusCode::kInvalidArgument, "the call reads `send`, which is NULL"};
  }
  if (call.count > 0 && (writes || of_result) && run.receive == nullptr) {
    return {StatusCode::kInvalidArgument, "the call needs `receive`, which is NULL"};
  }
  if (plan.device_bytes() > 0 && !is_aligned(run.lent, 256)) {
    return {StatusCode::kInvalidArgument, "`device` is NULL or not aligned to 256 bytes"};
  }
  if (!is_aligned(run.record, kLineBytes)) {
    return {StatusCode::kInvalidArgument, "`record` is NULL or not aligned to 64 bytes"};
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

Status do_trial(const SlotPlan& plan, Stage& steps) {
  if (plan.bound().exists) {
    if (Status status = steps.tell(); !status.ok()) return status;
    if (Status status = steps.resolve(); !status.ok()) return status;
  }
  for (const int number : {0, 1}) {
    if (Status status = steps.encode_all(number); !status.ok()) return status;
  }
  return {};
}

}  // namespace

Status do_stage(const SlotRun& run, int stage, SlotWork& work) {
  const SlotPlan& plan = *run.plan;
  const auto outcomes = lent_outcomes(run);
  Stage steps(run, work, outcomes.data());
  Status status =
      work.begin({run.lent + plan.workspace_at(), plan.workspace_bytes()}, outcomes, stage == 0);
  if (status.ok() && plan.tells_first()) {
    if (stage == 0) return steps.tell();
    if (stage == 1) status = steps.resolve();
  }
  // Those of the values: 0 encodes them.
  const int number = plan.tells_first() ? stage - 1 : stage;
  const bool last = stage == plan.stages() - 1;
  const bool sums = plan.sum().exists && number == (plan.needs_mailbox() ? 1 : 0);
  const RunEnd end{outcomes, outcomes_of(run.record),
                   &reinterpret_cast<SlotRecord*>(run.record)->done};
  const bool ends_open = last && number > 0 && !sums;
  if (status.ok() && number == (plan.needs_mailbox() ? 1 : 0)) status = steps.copy_own();
  if (status.ok() && number > 0) status = steps.open_all(number - 1, ends_open ? &end : nullptr);
  if (status.ok() && sums) status = steps.sum();
  if (plan.is_trial()) {
    if (status.ok()) status = do_trial(plan, steps);
  } else if (!last) {
    if (status.ok()) status = steps.encode_all(number);
    if (status.ok()) status = steps.seal_all(number);
  }
  return status.ok() && last && !ends_open ? work.report(end) : status;
}

Status post_exchange(const SlotRun& run, int stage, transport::StreamTransport& transport) {
  if (run.plan->tells_first() && stage == 0) {
    const auto ranks = static_cast<std::uint64_t>(run.plan->call().ranks);
    return transport.all_gather({run.lent + run.plan->bound().blocks, ranks * kSlotUnit},
                                run.stream);
  }
  const SlotExchange& exchange = run.plan->exchange(run.plan->tells_first() ? stage - 1 : stage);
  const auto slot = [&](std::uint64_t at, std::uint64_t slots) {
    return MutableByteView(run.lent + at, slots * exchange.slot_bytes);
  };
  if (exchange.kind == SlotExchange::Kind::kGather) {
    const auto ranks = static_cast<std::uint64_t>(run.plan->call().ranks);
    return transport.all_gather(slot(exchange.slots, ranks), run.stream);
  }
  if (exchange.kind == SlotExchange::Kind::kBroadcast) {
    return transport.broadcast(run.plan->call().peer, slot(exchange.slots, 1), run.stream);
  }
  for (const SlotTask& task : exchange.out) {
    Status status = transport.send(task.rank, slot(task.slot, 1), run.stream);
    if (!status.ok()) return status;
  }
  for (const SlotTask& task : exchange.in) {
    Status status = transport.receive(task.rank, slot(task.slot, 1), run.stream);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace thinwire::collective
