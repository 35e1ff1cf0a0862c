// The steps of one stage of a run, each over all blocks of an exchange.
#pragma once

#include <algorithm>
#include <array>

#include "collective/slots/groups.h"
#include "collective/slots/run.h"

namespace thinwire::collective {

inline const std::byte* values_of(const SlotRun& run, const Values& values) {
  switch (values.area) {
    case Values::Area::kSend:
      return run.send + values.offset;
    case Values::Area::kReceive:
      return run.receive + values.offset;
    case Values::Area::kLent:
    case Values::Area::kStays:
      break;
  }
  return run.lent + values.offset;
}

// Never of what the user only lends to be read.
inline std::byte* target_of(const SlotRun& run, const Values& values) {
  return (values.area == Values::Area::kReceive ? run.receive : run.lent) + values.offset;
}

inline bool is_staged(const SlotRun& run, const SlotTask& task) {
  return task.staged && run.send == run.receive;
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
    const auto own = static_cast<std::uint64_t>(plan_.is_sample() ? 0 : call.rank);
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

  Status differ() {
    const SlotDifference& difference = plan_.difference();
    if (run_.forgets) {
      const Status status = work_.clear(run_.references, kReferenceTableBytes);
      if (!status.ok()) return status;
    }
    if (!difference.sends) return {};
    return work_.differ({.references = references(),
                         .key = difference.key,
                         .call = run_.number,
                         .block = difference.own,
                         .values = run_.send,
                         .said = said() + difference.own * kSlotUnit,
                         .to = target_of(run_, difference.values)});
  }

  Status match() { return work_.match(restore_step()); }

  // Restores what came in slots, before it goes on to other ranks.
  Status restore_some() {
    RestoreStep step = restore_step();
    step.keeps = false;
    for (const SlotTask& task : plan_.exchange(0).in) {
      step.blocks[step.listed++] = referring_block(task);
      if (step.listed < static_cast<int>(kMostSteps)) continue;
      if (Status status = work_.restore(step); !status.ok()) return status;
      step.listed = 0;
    }
    return step.listed == 0 ? Status() : work_.restore(step);
  }

  Status restore() {
    RestoreStep step = restore_step();
    step.adds = !plan_.in_levels();
    return work_.restore(step);
  }

  Status write_factor() {
    return work_.write_factor(target_of(run_, plan_.factors().own), run_.factor);
  }

  // Those of an exchange, -1: of none.
  Status copy_rows(const std::vector<SlotRows>& all, int exchange) {
    for (const SlotRows& rows : all) {
      if (rows.exchange != exchange) continue;
      const Status status = work_.copy_rows({.to = target_of(run_, rows.to),
                                             .from = values_of(run_, rows.from),
                                             .rows = rows.rows,
                                             .row_bytes = rows.row_bytes,
                                             .to_step = rows.to_step,
                                             .from_step = rows.from_step});
      if (!status.ok()) return status;
    }
    return {};
  }

  // Encodes the values that go out, with the slots' headers unless it is a sample encode, which has
  // no slots.
  Status encode_all(int number, bool seals) {
    const SlotExchange& exchange = plan_.exchange(number);
    const bool at_once = seals && work_.seals();
    if (Status status = copy_staged(exchange); !status.ok()) return status;
    const Status status =
        for_each_group(exchange.out, plan_.blocks_at_once(), is_encoded,
                       [&](TaskGroup group) { return encode_group(number, group, at_once); });
    if (!status.ok()) return status;
    return seals ? seal_all(number, at_once) : Status();
  }

  // Opens what came with an exchange, if there was one (-1: none); the sums of it; and the run's
  // end, if `end` says how: all that is left to do, in as few steps as it goes.
  Status open_all(int number, const RunEnd* end) {
    static const SlotExchange kNothing;
    const SlotExchange& exchange = number < 0 ? kNothing : plan_.exchange(number);
    const auto is_opened = [&](const SlotTask& task) { return !task.is_raw && !is_there(task); };
    const Status opened =
        for_each_group(exchange.in, plan_.blocks_at_once(), is_opened,
                       [&](TaskGroup group) { return open_group(exchange, group); });
    if (!opened.ok()) return opened;
    std::array<FinishStep, kMostSteps> steps;
    std::size_t count = 0;
    for (const SlotTask& task : exchange.in) {
      if (!is_opened(task)) continue;
      if (count == kMostSteps) {
        if (Status status = work_.finish(steps, nullptr); !status.ok()) return status;
        count = 0;
      }
      steps[count++] = finish_step(exchange, task);
    }
    const SlotSum* next = nullptr;
    for (const SlotSum& sum : plan_.sums()) {
      if (sum.after != number) continue;
      if (next != nullptr) {
        const Status status = work_.sum(sum_step(*next), {steps.data(), count}, nullptr);
        if (!status.ok()) return status;
        count = 0;
      }
      next = &sum;
    }
    if (next != nullptr) return work_.sum(sum_step(*next), {steps.data(), count}, end);
    if (count > 0) return work_.finish({steps.data(), count}, end);
    return end == nullptr ? Status() : work_.report(*end);
  }

  RunEnd end() const {
    RunEnd end{.outcomes = {outcomes_, plan_.outcomes()},
               .to = outcomes_of(run_.record),
               .done = &record_at(run_.record).done};
    const SlotCopy& copy = plan_.copy();
    if (copy.bytes == 0) return end;
    const std::byte* const from = values_of(run_, copy.from);
    std::byte* const to = target_of(run_, copy.to);
    if (from == to || (copy.spares_send && to == run_.send)) return end;
    end.copy_to = to;
    end.copy_from = from;
    end.copy_bytes = copy.bytes;
    return end;
  }

 private:
  SealStep seal_step(const SlotExchange& exchange, const SlotTask& task) const {
    return {place_of(exchange, task), values_of(run_, task.values), plan_.call().as_is};
  }

  FinishStep finish_step(const SlotExchange& exchange, const SlotTask& task) const {
    return {place_of(exchange, task), &task.shape, target_of(run_, task.values),
            task.own ? values_of(run_, task.source) : nullptr,
            plan_.difference().exists ? found() + referring_block(task) : nullptr};
  }

  Status copy_staged(const SlotExchange& exchange) {
    for (const SlotTask& task : exchange.out) {
      if (!task.is_raw || !is_staged(run_, task)) continue;
      const Status status =
          work_.copy(target_of(run_, task.stage), values_of(run_, task.values), task.raw_bytes);
      if (!status.ok()) return status;
    }
    return {};
  }

  Status encode_group(int number, TaskGroup group, bool at_once) {
    const SlotExchange& exchange = plan_.exchange(number);
    const SlotTask& first = *group.front();
    if (group.size() > 1) {
      std::array<SealStep, codec::Blocks::kMost> steps;
      std::ranges::transform(group, steps.begin(),
                             [&](const SlotTask* task) { return seal_step(exchange, *task); });
      return work_.encode_blocks({steps.data(), group.size()}, first.shape, lost_before(number));
    }
    std::byte* const frame = run_.lent + first.slot + kSlotHeaderBytes;
    const ToSeal sealed = to_seal(seal_step(exchange, first), lost_before(number));
    return work_.encode(values_of(run_, first.values), first.shape, {frame, first.room},
                        outcomes_ + first.outcome, bound_, at_once ? &sealed : nullptr);
  }

  Status open_group(const SlotExchange& exchange, TaskGroup group) {
    const SlotTask& first = *group.front();
    if (group.size() == 1) {
      return work_.open(place_of(exchange, first), first.shape, target_of(run_, first.values));
    }
    std::array<FinishStep, codec::Blocks::kMost> steps;
    std::ranges::transform(group, steps.begin(),
                           [&](const SlotTask* task) { return finish_step(exchange, *task); });
    return work_.open_blocks({steps.data(), group.size()});
  }

  // Outcomes of which none may be an error: else what is sent next is lost.
  std::span<const device::Outcome> lost_before(int number) const {
    if (number == 0) return {};
    const auto& came = plan_.exchange(number - 1).in;
    const auto first = std::ranges::find(came, false, &SlotTask::is_raw);
    const auto count = std::ranges::count(came, false, &SlotTask::is_raw);
    if (count == 0) return {};
    return {outcomes_ + first->outcome, static_cast<std::size_t>(count)};
  }

  // After all encodes, which write into the slots after their own. `others_alone`: only slots
  // that go to another rank as well, whose values that one may need, too.
  Status seal_all(int number, bool others_alone) {
    const SlotExchange& exchange = plan_.exchange(number);
    std::array<SealStep, kMostSteps> steps;
    std::size_t count = 0;
    for (const SlotTask& task : exchange.out) {
      if (task.is_raw || (others_alone && !task.again)) continue;
      if (count == kMostSteps) {
        const Status status = work_.seal(steps, lost_before(number));
        if (!status.ok()) return status;
        count = 0;
      }
      steps[count++] = seal_step(exchange, task);
    }
    return count == 0 ? Status() : work_.seal({steps.data(), count}, lost_before(number));
  }

  SumStep sum_step(const SlotSum& sum) const {
    Operands arrays;
    arrays.first = values_of(run_, sum.others);
    arrays.stride = sum.stride;
    arrays.count = sum.arrays;
    arrays.is_exact = plan_.call().is_exact();
    arrays.divisor = plan_.call().divisor();
    arrays.scale = arrays.divisor > 1 ? 1 : sum.scale;
    if (sum.own_apart) {
      arrays.own = sum.place;
      arrays.own_at = values_of(run_, sum.own);
    }
    if (plan_.call().premultiplied) arrays.factors = factors(sum);
    return {arrays, sum.count, target_of(run_, sum.to)};
  }

  // This rank's own values, if they are to be.
  bool is_there(const SlotTask& task) const {
    return task.own && task.stays_in_place &&
           values_of(run_, task.source) == target_of(run_, task.values);
  }

  // Those in the headers of the first exchange, which stay until the second begins; or in messages.
  // Sums of a node are multiplied already.
  Factors factors(const SlotSum& sum) const {
    if (plan_.factors().exist) {
      if (sum.after > 0) return {};
      return {.exist = true,
              .first = values_of(run_, plan_.factors().others),
              .stride = kFactorBytes,
              .own = sum.place,
              .own_factor = run_.factor};
    }
    const SlotExchange& came = plan_.exchange(0);
    const bool gathered = came.kind == SlotExchange::Kind::kGather;
    return {.exist = true,
            .first = run_.lent + came.slots + kSlotFactorAt,
            .stride = came.slot_bytes,
            .own = gathered ? -1 : plan_.call().rank,
            .own_factor = run_.factor};
  }

  SlotPlace place_of(const SlotExchange& exchange, const SlotTask& task) const {
    const bool multiplied =
        plan_.call().premultiplied && &exchange == &plan_.exchange(0) && !plan_.factors().exist;
    return {.slot = {run_.lent + task.slot, exchange.slot_bytes},
            .tag = {.call = run_.number,
                    .block = task.block,
                    .raw_bytes = task.raw_bytes,
                    .factor = multiplied ? run_.factor : SlotFactor{}},
            .rank = task.rank,
            .mailbox = run_.mailbox,
            .outcome = outcomes_ + task.outcome};
  }

  RestoreStep restore_step() const {
    const SlotDifference& difference = plan_.difference();
    return {.references = references(),
            .key = difference.key,
            .call = run_.number,
            .said = said(),
            .found = found(),
            .values = run_.receive,
            .own = difference.own,
            .own_values = difference.sends ? run_.send : nullptr,
            .outcome = outcomes_ + difference.outcome};
  }

  References references() const { return {run_.references, plan_.call().reference_bytes}; }
  std::byte* said() const { return run_.lent + plan_.difference().blocks; }
  // The block of the result; a Bcast's has one.
  std::uint64_t referring_block(const SlotTask& task) const {
    return plan_.difference().key.blocks == 1 ? 0 : task.block;
  }
  std::uint64_t* found() const {
    return reinterpret_cast<std::uint64_t*>(run_.lent + plan_.difference().found);
  }

  const SlotRun& run_;
  const SlotPlan& plan_;
  SlotWork& work_;
  device::Outcome* outcomes_;
  const BoundRecord* bound_ = nullptr;
};

}  // namespace thinwire::collective
