// Coded calls of a group are enqueued at its outermost end, in one exchange with those that are not
// (decision 0037). If nothing is coded, NCCL alone keeps the group.
#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "entry/ending.h"
#include "entry/group.h"
#include "entry/steps.h"
#include "entry/unfinished.h"
#include "native/call_native.h"
#include "native/cuda.h"
#include "observe/count.h"

namespace thinwire::nccl {
namespace {

void forget_coded(Group& of) {
  for (const Planned& each : of.coded) each.decision.plan->users.fetch_sub(1);
  of.coded.clear();
}

// Watches what comes after all that is on the streams by now, or will be.
ncclResult_t watch_on(const Group& of, ncclResult_t result, Rest rest) {
  if (result != ncclInProgress) {
    enqueue_after(of.coded);
    enqueue_after(of.watched);
    // All of a group end together.
    for (const auto* const calls : {&of.coded, &of.watched}) {
      if (result == ncclSuccess && !calls->empty()) note_end(calls->back());
    }
    return result;
  }
  std::vector<Planned> later;
  if (!allowed([&] { std::ranges::copy_if(of.watched, std::back_inserter(later), has_after); })) {
    later.clear();
    for (const Planned& each : of.watched) leave_out_after(each);
  }
  if (rest.calls.empty() && later.empty()) return result;
  return finish_later(std::move(rest), std::move(later));
}

// Its calls' numbers stand.
void confirm_numbers(const Group& of) {
  for (const CallNumber& each : of.call_number) each.compressor->confirm(each);
}

// How many of each kind it has.
void count_kinds(const Group& of) {
  for (const CallNumber& each : of.call_number) {
    if (each.of != nullptr) each.of->count_in_group();
  }
  for (const CallNumber& each : of.call_number) {
    if (each.of != nullptr) each.of->end_group();
  }
}

// Whether there may be memory for some of its calls alone. Once captured no more is tried.
bool lacks_memory(const Group& of) {
  const bool tries = std::ranges::any_of(
      of.watched, [](const Planned& each) { return each.decision.plan != nullptr; });
  bool is_larger = false, is_captured = false;
  for (const CallNumber& each : of.call_number) {
    if (each.of != nullptr) each.compressor->count_in_group();
    is_captured = is_captured || each.is_captured;
  }
  for (const CallNumber& each : of.call_number)
    is_larger = each.compressor->end_group() || is_larger;
  return (tries || is_larger) && !is_captured;
}

// Before what a sample encode of it measures is offered.
void reserve_memory(Group& of) {
  if (!lacks_memory(of)) return;
  std::ranges::sort(of.call_number, std::greater(), [](const CallNumber& each) {
    const Working working = each.of == nullptr ? Working{} : each.of->working();
    return std::tuple(each.compressor, each.stream, working.device_bytes);
  });
  for (auto at = of.call_number.begin(); at != of.call_number.end();) {
    Compressor* const compressor = at->compressor;
    of.reserved.clear();
    for (; at != of.call_number.end() && at->compressor == compressor; ++at) {
      if (at->of != nullptr) of.reserved.push_back({at->of, at->stream});
    }
    compressor->reserve_together(of.reserved);
  }
}

// As the program made them; the ends of communicators come after all calls of theirs.
ncclResult_t pass_raw(Group& of) {
  std::ranges::sort(of.raw, {}, [](const KeptRaw& each) { return each.call.place; });
  ncclResult_t first = ncclSuccess;
  for (const KeptRaw& each : of.raw) {
    const ncclResult_t result = pass_kept(each);
    if (!is_taken(result) && first == ncclSuccess) first = result;
  }
  const ncclResult_t ended = pass_finalizations(of.ends);
  return first == ncclSuccess ? ended : first;
}

void note_all_finalized(const Group& of, ncclResult_t result) {
  if (!is_taken(result)) return;
  for (const ncclComm_t each : of.ends) note_finalized(each);
}

void forget_watched(Group& of) {
  for (const Planned& each : of.watched) {
    for (Plan* const plan : {each.decision.plan, each.decision.result_sample}) {
      if (plan != nullptr) plan->users.fetch_sub(1);
    }
  }
}

// Nothing of it is carried out, and other ranks need not do the same: its calls have no numbers.
void take_numbers_back(const Group& of) {
  for (const CallNumber& each : of.call_number) {
    each.track->take_back();
    if (each.has_turn) each.of->take_turn_back();
  }
}

// NCCL has refused a call of it, or one cannot be coded as the ranks have agreed.
ncclResult_t refuse(Group& of, ncclResult_t* made) {
  forget_coded(of);
  forget_watched(of);
  take_numbers_back(of);
  for (const KeptRaw& each : of.raw) {
    if (each.ends_op) THINWIRE_PASS(RedOpDestroy, each.call.op, each.call.comm);
  }
  const ncclResult_t failure = of.failure;
  of.clear();
  *made = THINWIRE_PASS(GroupEnd);
  return failure;
}

// NCCL launches nothing if a capture is invalid.
bool has_invalid_capture(const Group& of) {
  return std::ranges::any_of(of.raw, [](const KeptRaw& each) {
    return capture_of(each.call.stream).state == Capture::State::kUnclear;
  });
}

ncclResult_t carry_out_raw(Group& of) {
  const ncclResult_t passed = pass_raw(of);
  const ncclResult_t ended = THINWIRE_PASS(GroupEnd);
  const ncclResult_t result = passed == ncclSuccess ? ended : passed;
  const bool is_refused = result == ncclInvalidArgument || result == ncclInvalidUsage ||
                          (result == ncclUnhandledCudaError && has_invalid_capture(of));
  is_refused ? take_numbers_back(of) : confirm_numbers(of);
  note_all_finalized(of, result);
  return result;
}

ncclResult_t carry_out_coded(Group& of, Rest& rest) {
  confirm_numbers(of);
  const bool is_ready = allowed([&] {
    rest = in_steps(of.coded, of.raw);
    rest.ends = of.ends;
  });
  if (is_ready) return enqueue_group(rest);
  forget_coded(of);
  THINWIRE_PASS(GroupEnd);
  return ncclSystemError;
}

// NCCL refuses a group in which a communicator has calls on streams that are not captured alike.
bool is_refused_by_nccl(const Group& of) {
  const cudaStream_t first = of.coded.front().call.stream;
  const auto is_elsewhere = [&](const auto& each) { return each.call.stream != first; };
  const bool has_several =
      std::ranges::any_of(of.coded, is_elsewhere) || std::ranges::any_of(of.raw, is_elsewhere);
  return has_several && has_mixed_captures(of.coded, of.raw);
}

// All of it is NCCL's, to estimate or to refuse: nothing of it is carried out, so that its calls
// have no numbers.
ncclResult_t leave_to_nccl(Group& of) {
  for (const Planned& each : of.coded) pass(each.call);
  for (const Call& each : of.undecided) pass(each);
  pass_raw(of);
  forget_coded(of);
  forget_watched(of);
  take_numbers_back(of);
  return of.failure;
}

ncclResult_t carry_out(Group& of) {
  bool is_refused = false;
  allowed([&] { is_refused = !of.coded.empty() && is_refused_by_nccl(of); });
  if (is_refused) {
    leave_to_nccl(of);
    of.clear();
    return THINWIRE_PASS(GroupEnd);
  }
  count_kinds(of);
  allowed([&] { reserve_memory(of); });
  enqueue_before(of.watched);
  enqueue_before(of.coded);
  Rest rest;
  ncclResult_t result = of.coded.empty() ? carry_out_raw(of) : carry_out_coded(of, rest);
  const bool ends_here = !of.coded.empty() && result == ncclSuccess;
  result = watch_on(of, result, std::move(rest));
  if (ends_here) result = finalize_all(of.ends);
  for (const Count& each : of.counts) allowed([&] { count(each); });
  of.clear();
  return result;
}

// NCCL estimates the time of all, as it would carry them out.
ncclResult_t simulate(Group& of, ncclSimInfo_t* info) {
  const ncclResult_t failure = leave_to_nccl(of);
  const ncclResult_t result = THINWIRE_PASS(GroupSimulateEnd, info);
  note_all_finalized(of, result);
  of.clear();
  return failure == ncclSuccess ? result : failure;
}

}  // namespace

ncclResult_t end_group(ncclResult_t* made) {
  Group& of = close_group();
  if (of.failure != ncclSuccess) return refuse(of, made);
  return *made = carry_out(of);
}

ncclResult_t simulate_group(ncclSimInfo_t* info) { return simulate(close_group(), info); }

}  // namespace thinwire::nccl
