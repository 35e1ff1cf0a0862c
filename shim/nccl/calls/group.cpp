// What is coded in a group is enqueued at its outermost end, in one exchange with what is not
// (docs/decisions/0037-nccl-calls.md). Where nothing is coded NCCL alone keeps the group.
#include "calls/group.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "abi/cuda.h"
#include "base/of_thread.h"
#include "calls/pass.h"
#include "calls/steps.h"
#include "calls/unfinished.h"

namespace thinwire::nccl {
namespace {

// How many this thread has open, for which a Group has been made.
thread_local int t_depth = 0;

struct Group {
  std::uint64_t places = 0;
  ncclResult_t failure = ncclSuccess;
  std::vector<Call> undecided;
  std::vector<Planned> coded;
  std::vector<Planned> watched;
  std::vector<KeptRaw> raw;
  std::vector<Numbered> numbered;
  std::vector<Count> counts;
  std::vector<Grouped> reserved;  // for one communicator at a time

  void clear() {
    coded.clear();
    watched.clear();
    raw.clear();
    numbered.clear();
    counts.clear();
    undecided.clear();
    places = 0;
    failure = ncclSuccess;
  }
};

Group& group() { return of_thread<Group>(); }

void forget_coded(Group& of) {
  for (const Planned& each : of.coded) each.decision.plan->users.fetch_sub(1);
  of.coded.clear();
}

// Behind what is on the streams by now, or will be.
ncclResult_t watch_on(const Group& of, ncclResult_t result, Rest rest) {
  if (result != ncclInProgress) {
    enqueue_behind(of.coded);
    enqueue_behind(of.watched);
    // All of a group end together.
    for (const auto* const calls : {&of.coded, &of.watched}) {
      if (result == ncclSuccess && !calls->empty()) note_end(calls->back());
    }
    return result;
  }
  std::vector<Planned> later;
  allowed([&] { std::ranges::copy_if(of.watched, std::back_inserter(later), has_behind); });
  if (rest.calls.empty() && later.empty()) return result;
  return finish_later(std::move(rest), std::move(later));
}

// Its calls' numbers stand.
void settle(const Group& of) {
  for (const Numbered& each : of.numbered) each.coder->settle(each);
}

// How many of each class it has.
void count_classes(const Group& of) {
  for (const Numbered& each : of.numbered) {
    if (each.of != nullptr) each.of->count_in_group();
  }
  for (const Numbered& each : of.numbered) {
    if (each.of != nullptr) each.of->end_group();
  }
}

// Whether there may be memory for some of its calls alone. Once captured no more is tried.
bool lacks_memory(const Group& of) {
  const bool tries = std::ranges::any_of(
      of.watched, [](const Planned& each) { return each.decision.plan != nullptr; });
  bool is_larger = false, is_captured = false;
  for (const Numbered& each : of.numbered) {
    if (each.of != nullptr) each.coder->count_in_group();
    is_captured = is_captured || each.is_captured;
  }
  for (const Numbered& each : of.numbered) is_larger = each.coder->end_group() || is_larger;
  return (tries || is_larger) && !is_captured;
}

// Before what a trial of it measures is offered.
void reserve_memory(Group& of) {
  if (!lacks_memory(of)) return;
  std::ranges::sort(of.numbered, std::greater(), [](const Numbered& each) {
    const Working working = each.of == nullptr ? Working{} : each.of->working();
    return std::tuple(each.coder, each.stream, working.device_bytes);
  });
  for (auto at = of.numbered.begin(); at != of.numbered.end();) {
    Coder* const coder = at->coder;
    of.reserved.clear();
    for (; at != of.numbered.end() && at->coder == coder; ++at) {
      if (at->of != nullptr) of.reserved.push_back({at->of, at->stream});
    }
    coder->reserve_together(of.reserved);
  }
}

// As the program made them.
ncclResult_t pass_raw(Group& of) {
  std::ranges::sort(of.raw, {}, [](const KeptRaw& each) { return each.call.place; });
  ncclResult_t first = ncclSuccess;
  for (const KeptRaw& each : of.raw) {
    const ncclResult_t result = pass_kept(each);
    if (!is_taken(result) && first == ncclSuccess) first = result;
  }
  return first;
}

void forget_watched(Group& of) {
  for (const Planned& each : of.watched) {
    for (Plan* const plan : {each.decision.plan, each.decision.result_trial}) {
      if (plan != nullptr) plan->users.fetch_sub(1);
    }
  }
}

// Nothing of it is carried out, and other ranks need not do the same: its calls have no numbers.
void take_numbers_back(const Group& of) {
  for (const Numbered& each : of.numbered) {
    each.track->take_back();
    if (each.has_turn) each.of->take_turn_back();
  }
}

// NCCL has refused a call of it, or one cannot be coded as the ranks have agreed.
ncclResult_t refuse(Group& of) {
  forget_coded(of);
  forget_watched(of);
  take_numbers_back(of);
  for (const KeptRaw& each : of.raw) {
    if (each.ends_op) THINWIRE_PASS(RedOpDestroy, each.call.op, each.call.comm);
  }
  const ncclResult_t failure = of.failure;
  of.clear();
  THINWIRE_PASS(GroupEnd);
  return failure;
}

// NCCL launches nothing where a capture is invalid.
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
  is_refused ? take_numbers_back(of) : settle(of);
  return result;
}

ncclResult_t carry_out_coded(Group& of, Rest& rest) {
  settle(of);
  if (allowed([&] { rest = in_steps(of.coded, of.raw); })) return enqueue_group(rest);
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
  const ncclResult_t failure = of.failure;
  of.clear();
  return failure;
}

ncclResult_t carry_out(Group& of) {
  if (of.failure != ncclSuccess) return refuse(of);
  bool is_refused = false;
  allowed([&] { is_refused = !of.coded.empty() && is_refused_by_nccl(of); });
  if (is_refused) {
    leave_to_nccl(of);
    return THINWIRE_PASS(GroupEnd);
  }
  count_classes(of);
  allowed([&] { reserve_memory(of); });
  enqueue_before(of.watched);
  enqueue_before(of.coded);
  Rest rest;
  ncclResult_t result = of.coded.empty() ? carry_out_raw(of) : carry_out_coded(of, rest);
  result = watch_on(of, result, std::move(rest));
  for (const Count& each : of.counts) allowed([&] { count(each); });
  of.clear();
  return result;
}

// NCCL estimates the time of all, as it would carry them out.
ncclResult_t simulate(Group& of, ncclSimInfo_t* info) {
  const ncclResult_t failure = leave_to_nccl(of);
  const ncclResult_t result = THINWIRE_PASS(GroupSimulateEnd, info);
  return failure == ncclSuccess ? result : failure;
}

}  // namespace

bool in_group() { return t_depth > 0; }

int open_groups() { return t_depth; }

void open_group() {
  group();
  ++t_depth;
}

void close_inner_group() { --t_depth; }

ncclResult_t end_group() {
  t_depth = 0;
  return carry_out(group());
}

ncclResult_t simulate_group(ncclSimInfo_t* info) {
  t_depth = 0;
  return simulate(group(), info);
}

std::uint64_t next_place() { return group().places++; }

void keep_undecided(const Call& call) { group().undecided.push_back(call); }

std::vector<Call> take_undecided() { return std::exchange(group().undecided, {}); }

void keep_coded(const Planned& planned) { group().coded.push_back(planned); }

bool group_refers(const Coder& coder) {
  return std::ranges::any_of(group().coded, [&](const Planned& each) {
    return each.coder == &coder && each.decision.plan->info.has_references != 0;
  });
}

void keep_watched(const Planned& planned) { group().watched.push_back(planned); }

void keep_number(const Numbered& numbered) { group().numbered.push_back(numbered); }

void keep_count(const Count& count) { group().counts.push_back(count); }

void keep_raw(const Call& call, Communicator& communicator) {
  Group& of = group();
  of.raw.push_back({call, &communicator});
}

bool kept_end_of(ncclRedOp_t op, ncclComm_t comm) {
  std::vector<KeptRaw>& raw = group().raw;
  const auto last = std::find_if(raw.rbegin(), raw.rend(), [&](const KeptRaw& each) {
    return each.call.reduces() && each.call.op == op && each.call.comm == comm;
  });
  if (last == raw.rend()) return false;
  last->ends_op = true;
  return true;
}

ncclResult_t spoil_group(ncclResult_t failure) {
  if (t_depth > 0 && group().failure == ncclSuccess) group().failure = failure;
  return failure;
}

}  // namespace thinwire::nccl
