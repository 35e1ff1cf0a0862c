#include "shim/mpi/collective/plan.h"

#include <string>

#include "shim/mpi/collective/agreed_facts.h"
#include "shim/mpi/collective/call.h"
#include "shim/mpi/collective/native_count.h"
#include "shim/mpi/native/real.h"

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

// Whether the kind of a call has a say in it.
bool leaves_choice(NativeReason planned, const tw_collective& collective) {
  return (collective.flags & TW_FORCED) == 0 &&
         (planned == NativeReason::kCompressed || planned == NativeReason::kWouldNotGain);
}

// By what all ranks know. Once for the run if the results depend on the way that a call goes:
// under a lossy codec, and of sums whose order of additions is another one.
choose::CallKind& kind_of(const Part& part, Collectives& kept) {
  KindKey of = kind_key_of(part);
  if (compressed_by_name_alone(part.form->call)) of.size_bits = part.largest_bits;
  const tw_reductions reductions = tw_codec_reductions(part.codec);
  const bool is_ordered = reductions == TW_REDUCTIONS_ORDERED || reductions == TW_REDUCTIONS_EXACT;
  const bool once = part.is_lossy || (part.form->reduces && !is_ordered);
  return kept.kinds.try_emplace(of, once).first->second;
}

choose::Foreseen foreseen(const Part& part, NativeReason planned) {
  return {part.planned.raw_seconds, part.planned.seconds, planned == NativeReason::kCompressed};
}

// Compresses if the plan alone would not, or might not another time though results depend on it.
NativeReason compress(const Part& part, NativeReason planned, tw_collective& collective,
                      Collectives& kept) {
  if (planned == NativeReason::kCompressed && !part.is_lossy) return planned;
  collective.flags |= TW_FORCED;
  part.is_forced = true;
  return ask(part, collective, kept);
}

// Collective. If the ranks cannot agree nothing pays.
void agree_on_times(const Part& part, choose::CallKind& of, Collectives& kept) {
  constexpr int kTimes = 4;
  const choose::RoundTimes times = of.own();
  const std::uint64_t own[kTimes] = {times.raw, times.coded, times.raw_mean, times.coded_mean};
  std::uint64_t largest[kTimes] = {};
  const int error = real().Allreduce(own, largest, kTimes, MPI_UINT64_T, MPI_MAX, kept.own->comm());
  const bool is_decided = of.adopt(
      error != MPI_SUCCESS ? choose::RoundTimes{}
                           : choose::RoundTimes{largest[0], largest[1], largest[2], largest[3]});
  if (!is_decided || !plans_are_logged || part.rank != 0) return;
  const choose::RoundTimes& agreed = of.times();
  log_decision(kind_key_of(part), {.raw_nanoseconds = static_cast<double>(agreed.raw),
                                   .coded_nanoseconds = static_cast<double>(agreed.coded),
                                   .raw_mean_nanoseconds = static_cast<double>(agreed.raw_mean),
                                   .coded_mean_nanoseconds = static_cast<double>(agreed.coded_mean),
                                   .is_coded = of.codes(),
                                   .round = of.rounds()});
}

// True for a rate that the machine alone says: it begins nothing that is not timed.
bool is_guessed(const Collectives& kept) {
  return !lies_on_one_node(kept) && !choose::is_vouched_for(kept.link);
}

NativeReason ask_as_agreed(const CollectiveArguments& arguments, const Part& part,
                           Collectives& kept) {
  tw_collective collective = describe(arguments, part, kept.planned);
  collective.flags |= TW_AS_AGREED;
  const NativeReason planned = ask(part, collective, kept);
  if (!leaves_choice(planned, collective)) return planned;
  choose::CallKind& of = kind_of(part, kept);
  if (!of.is_decided() && is_guessed(kept)) return NativeReason::kNoLink;
  if (of.is_decided()) part.gain = of.saving();  // what a plan foresees is told as no gain
  if (of.codes(foreseen(part, planned))) return compress(part, planned, collective, kept);
  return of.is_decided() ? NativeReason::kNotFaster : NativeReason::kWouldNotGain;
}

// Both are asked: the costs of both are then wanted.
NativeReason ask_of_either(const CollectiveArguments& arguments, const Part& part,
                           Collectives& kept) {
  Part of_f32 = part, of_f64 = part;
  of_f32.take(kOfF32);
  of_f64.take(kOfF64);
  const NativeReason first = ask_as_agreed(arguments, of_f32, kept);
  const NativeReason second = ask_as_agreed(arguments, of_f64, kept);
  for (const NativeReason why : {NativeReason::kCostUnknown, NativeReason::kCompressed}) {
    if (first == why || second == why) return why;
  }
  return first == NativeReason::kDtype ? second : first;
}

}  // namespace

NativeReason plan_blocking(const Part& part, tw_collective& collective, Collectives& kept,
                           CallClock& clock) {
  ++kept.calls;
  agree_on_link_if_due(kept);
  const NativeReason planned = ask(part, collective, kept);
  if (!leaves_choice(planned, collective)) return planned;
  choose::CallKind& of = kind_of(part, kept);
  if (of.is_due()) agree_on_times(part, of, kept);
  const choose::CallTurn turn = of.next(foreseen(part, planned));
  if (turn.is_timed) clock.set(kept.own->comm(), of, turn.is_coded);
  if (of.is_decided()) part.gain = of.saving();  // what a plan foresees is told as no gain
  if (turn.is_coded) return compress(part, planned, collective, kept);
  if (turn.is_in_round) return NativeReason::kBeingTimed;
  return of.is_decided() ? NativeReason::kNotFaster : NativeReason::kWouldNotGain;
}

NativeReason plan_started(const CollectiveArguments& arguments, const Part& part,
                          Collectives& kept) {
  ++kept.calls;
  const NativeReason why =
      part.is_open ? ask_of_either(arguments, part, kept) : ask_as_agreed(arguments, part, kept);
  const bool is_link_due = why == NativeReason::kNoLink && kept.calls >= kept.next_agreement;
  if (why == NativeReason::kCostUnknown || is_link_due) want_costs(kept);
  return why;
}

NativeReason plan_persistent(const CollectiveArguments& arguments, Part& part, Collectives& kept) {
  ++kept.calls;
  if (part.is_open) {
    kept.wait_for_started();
    if (!agree_on_signature(part, kept.queue)) return NativeReason::kDtype;
  }
  const NativeReason why = ask_as_agreed(arguments, part, kept);
  const bool is_link_due = why == NativeReason::kNoLink && kept.calls >= kept.next_agreement;
  if (why != NativeReason::kCostUnknown && !is_link_due) return why;
  learn_costs(kept);
  return ask_as_agreed(arguments, part, kept);
}

}  // namespace thinwire::mpi
