#include "collectives/plan.h"

#include <string>

#include "collectives/call.h"
#include "collectives/native_count.h"
#include "collectives/signature.h"

namespace thinwire::mpi {
namespace {

NativeReason ask(const Part& part, const tw_collective& collective, Collectives& kept) {
  if (!has_schedule(collective.operation, collective.algorithm, collective.coding)) {
    return NativeReason::kNoSchedule;
  }
  tw_collective_report plan{};
  plan.size = sizeof plan;
  if (tw_comm_plan(kept.queue.comm(), &collective, &plan) != TW_OK) {
    tw_log(TW_LOG_DEBUG,
           (std::string(part.form->name) + " has no plan: " + tw_last_error()).c_str());
    return NativeReason::kNoSchedule;
  }
  part.planned = {plan.predicted_raw_seconds, plan.predicted_seconds, 0, kept.link};
  const auto reason = static_cast<NativeReason>(plan.reason);
  const bool is_guarded = (collective.flags & TW_FORCED) == 0;
  if (reason == NativeReason::kCompressed && is_guarded && kept.link.bytes_per_second <= 0) {
    return NativeReason::kNoLink;
  }
  return reason;
}

// What a lossy codec's first call of its class came to holds for the run: what the ranks get must
// not depend on how long messages take. All ranks come to the same at the same call.
NativeReason ask_once_a_class(const Part& part, tw_collective& collective, Collectives& kept) {
  if (!part.is_lossy || (collective.flags & TW_FORCED) != 0) return ask(part, collective, kept);
  const PlanClass of = plan_class_of(part);
  const auto found = kept.kept_plans.find(of);
  if (found == kept.kept_plans.end()) {
    const NativeReason reason = ask(part, collective, kept);
    if (reason != NativeReason::kCompressed && reason != NativeReason::kWouldNotGain) return reason;
    kept.kept_plans.emplace(of, reason);
    if (reason == NativeReason::kWouldNotGain) return reason;
  } else if (found->second == NativeReason::kWouldNotGain) {
    return found->second;
  }
  collective.flags |= TW_FORCED;
  part.is_forced = true;
  return ask(part, collective, kept);
}

NativeReason ask_as_agreed(const Asked& asked, const Part& part, Collectives& kept) {
  tw_collective collective = describe(asked, part, kept.planned);
  collective.flags |= TW_AS_AGREED;
  return ask_once_a_class(part, collective, kept);
}

// Both are asked: the costs of both are then wanted.
NativeReason ask_of_either(const Asked& asked, const Part& part, Collectives& kept) {
  Part of_f32 = part, of_f64 = part;
  of_f32.take(kOfF32);
  of_f64.take(kOfF64);
  const NativeReason first = ask_as_agreed(asked, of_f32, kept);
  const NativeReason second = ask_as_agreed(asked, of_f64, kept);
  for (const NativeReason why : {NativeReason::kCostUnknown, NativeReason::kCompressed}) {
    if (first == why || second == why) return why;
  }
  return first == NativeReason::kDtype ? second : first;
}

}  // namespace

NativeReason plan_blocking(const Part& part, tw_collective& collective, Collectives& kept) {
  ++kept.calls;
  agree_on_link_if_due(kept);
  return ask_once_a_class(part, collective, kept);
}

NativeReason plan_started(const Asked& asked, const Part& part, Collectives& kept) {
  ++kept.calls;
  const NativeReason why =
      part.is_open ? ask_of_either(asked, part, kept) : ask_as_agreed(asked, part, kept);
  if (why == NativeReason::kCostUnknown) want_costs(kept);
  return why;
}

NativeReason plan_persistent(const Asked& asked, Part& part, Collectives& kept) {
  ++kept.calls;
  if (part.is_open) {
    wait_for_started(kept);
    if (!agree_on_signature(part, kept.queue)) return NativeReason::kDtype;
  }
  const NativeReason why = ask_as_agreed(asked, part, kept);
  if (why != NativeReason::kCostUnknown) return why;
  settle_costs(kept);
  return ask_as_agreed(asked, part, kept);
}

}  // namespace thinwire::mpi
