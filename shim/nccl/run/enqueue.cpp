#include "run/enqueue.h"

#include <algorithm>
#include <mutex>

#include "native/call_native.h"
#include "native/events.h"
#include "native/refused.h"
#include "run/batch.h"
#include "run/first_calls.h"
#include "run/ranges.h"
#include "state/reason.h"

namespace thinwire::nccl {
namespace {

ncclResult_t result_of(tw_status status) {
  if (status == TW_OK) return ncclSuccess;
  const ncclResult_t of_nccl = take_transport_error();
  if (of_nccl != ncclSuccess) return of_nccl;
  tw_log(TW_LOG_ERROR, tw_last_error());
  return ncclInternalError;
}

ncclResult_t enqueue(std::span<const tw_stream_call> calls) {
  return result_of(tw_stream_enqueue(calls.data(), static_cast<std::uint32_t>(calls.size())));
}

// As far as NCCL goes along at once.
ncclResult_t enqueue_stages(std::span<const tw_stream_call> calls, Rest& rest) {
  const auto count = static_cast<std::uint32_t>(calls.size());
  take_in_progress();
  do {
    const tw_status status = tw_stream_enqueue_stage(calls.data(), count, rest.stage, &rest.stages);
    const bool waits = take_in_progress();
    if (status != TW_OK) return result_of(status);
    ++rest.stage;
    if (waits) return ncclInProgress;
  } while (rest.stage < rest.stages);
  return ncclSuccess;
}

// Lends a step what it needs as it begins: its records would be taken for earlier calls' before,
// and memory of the step before serves again, as streams have the one after the other.
bool prepare_step(Rest& rest, std::span<const Planned> calls, Batch& own) {
  rest.prepared += calls.size();
  return calls.empty() || prepare(calls, Part::kCall, own);
}

// Its raw calls go beside the first exchange, in one group of NCCL's; there are no rounds then.
ncclResult_t enqueue_step(Rest& rest, Batch& own, bool is_open) {
  if (rest.stage > 0) return enqueue_stages(rest.made, rest);
  const Step& step = rest.steps[rest.step];
  const auto coded = std::span<const Planned>(rest.calls).subspan(rest.calls_done, step.coded);
  const auto raw = std::span<const KeptRaw>(rest.raw).subspan(rest.raw_done, step.raw);
  ncclResult_t result = prepare_step(rest, coded, own) ? ncclSuccess : ncclSystemError;
  const bool is_alone = !is_open && raw.empty();
  if (is_alone && result != ncclSuccess) return result;
  if (is_alone && rest.calls.front().compressor->blocks()) return enqueue(own.calls);
  rest.is_open = false;  // it is ended by what follows
  ProgramGroup group(raw, is_open);
  if (result == ncclSuccess && !coded.empty()) result = enqueue_stages(own.calls, rest);
  const ncclResult_t ended = group.close();
  if (result == ncclInProgress) rest.made = own.calls;
  return result == ncclSuccess ? ended : result;
}

// Calls of steps that never begin.
void give_back_plans(const Rest& rest) {
  for (std::size_t at = rest.prepared; at < rest.calls.size(); ++at)
    rest.calls[at].decision.plan->users.fetch_sub(1);
}

ncclResult_t join_all(std::span<const Joined> joined) {
  const bool all = std::ranges::all_of(
      joined, [](const Joined& each) { return join(each.device, each.streams); });
  if (!all) tw_log(TW_LOG_ERROR, "CUDA refuses to let the streams of a group wait for each other");
  return all ? ncclSuccess : ncclUnhandledCudaError;
}

// One step after the other, each with all of its exchanges.
ncclResult_t enqueue_steps(Rest& rest, Batch& own, bool is_open) {
  while (rest.has_steps()) {
    const ncclResult_t result = enqueue_step(rest, own, is_open && rest.step == 0);
    if (!is_taken(result)) return result;
    if (result == ncclSuccess || rest.stage == rest.stages) {
      rest.calls_done += rest.steps[rest.step].coded;
      rest.raw_done += rest.steps[rest.step].raw;
      rest.stage = rest.stages = 0;
      ++rest.step;
    }
    if (result == ncclInProgress) return result;
  }
  const ncclResult_t joined = join_all(rest.joined);
  rest.joined.clear();
  return joined;
}

// Fails calls: nobody can make up for what is missing now.
void fail_all(std::span<const Planned> calls) {
  for (const Planned& each : calls) {
    const std::lock_guard lock(each.compressor->mutex());
    each.compressor->fail(each.call);
  }
}

// Enqueues calls as `enqueue` does, under their compressors' locks. If the system refuses memory
// meanwhile, nobody knows how much of them NCCL has.
template <typename Enqueue>
ncclResult_t enqueue_locked(std::span<const Planned> calls, Enqueue enqueue) {
  ncclResult_t result = ncclSystemError;
  const bool is_known = allowed([&] {
    const Range range(calls);
    Locked locked(calls);
    result = enqueue(locked.batch());
  });
  if (is_known) return result;
  for (const Planned& each : calls) {
    const std::lock_guard lock(each.compressor->mutex());
    each.compressor->lose();
  }
  return ncclSystemError;
}

ncclResult_t enqueue_alone(const Planned& call, Batch& own, Rest* rest) {
  if (!prepare({&call, 1}, Part::kCall, own)) return ncclSystemError;
  if (call.compressor->blocks()) return enqueue(own.calls);
  const ncclResult_t result = enqueue_stages(own.calls, *rest);
  if (result == ncclInProgress) {
    rest->calls = {call};
    rest->prepared = 1;
    rest->made = own.calls;
    rest->steps = {{1, 0}};
  }
  return result;
}

}  // namespace

ncclResult_t enqueue_coded(const Planned& call, Rest* rest) {
  const FirstCalls first({&call, 1});
  const ncclResult_t result =
      enqueue_locked({&call, 1}, [&](Batch& own) { return enqueue_alone(call, own, rest); });
  if (!is_taken(result)) fail_all({&call, 1});
  first.note_end();
  return result;
}

ncclResult_t enqueue_in_turn(Rest& calls) {
  const ncclResult_t result =
      enqueue_locked(calls.calls, [&](Batch& own) { return enqueue_steps(calls, own, false); });
  if (!is_taken(result)) give_up(calls);
  return result;
}

ncclResult_t enqueue_group(Rest& group) {
  const FirstCalls first(group.calls);
  group.is_open = true;
  const ncclResult_t result = enqueue_locked(group.calls, [&](Batch& own) {
    const ncclResult_t joined = join_all(group.joined);
    return joined == ncclSuccess ? enqueue_steps(group, own, true) : joined;
  });
  if (group.is_open) THINWIRE_PASS(GroupEnd);
  if (!is_taken(result)) give_up(group);
  first.note_end();
  return result;
}

ncclResult_t enqueue_rest(Rest& rest) {
  return enqueue_locked(rest.calls, [&](Batch& own) { return enqueue_steps(rest, own, false); });
}

void give_up(const Rest& rest) {
  give_back_plans(rest);
  fail_all(rest.calls);
}

namespace {

void enqueue_sample(const Planned& tried, Part part) {
  Locked locked({&tried, 1});
  Batch& own = locked.batch();
  if (!prepare({&tried, 1}, part, own)) {
    for (Kind* const of : tried.decision.of) {
      if (of != nullptr) of->veto(TW_RAW_NO_MEMORY);
    }
  } else if (enqueue(own.calls) != ncclSuccess) {
    tried.compressor->fail(tried.call);
  }
}

}  // namespace

void enqueue_before(std::span<Planned> calls) {
  for (const Planned& each : calls) {
    const bool is_tried = !each.decision.coded() && each.decision.plan != nullptr;
    if (is_tried) allowed([&] { enqueue_sample(each, Part::kSample); });
  }
  // After all sample encodes, whose time is not theirs.
  for (Planned& each : calls) {
    if (!each.decision.is_timed()) continue;
    if (!allowed([&] { each.clock = each.compressor->begin_time(each.call, each.decision); }))
      each.compressor->lose_time(each.decision);
  }
}

void enqueue_after(std::span<const Planned> calls) {
  for (const Planned& each : calls) {
    allowed([&] { each.compressor->end_time(each.call, each.clock); });
  }
  for (const Planned& each : calls) {
    if (each.decision.result_sample == nullptr) continue;
    allowed([&] { enqueue_sample(each, Part::kResultSample); });
  }
}

void note_end(const Planned& planned) {
  // A clock in a graph would be read again at each replay.
  if (planned.clock == nullptr && !planned.call.is_captured())
    allowed([&] { planned.compressor->note_end(planned.call); });
}

void leave_out_after(const Planned& planned) {
  Plan* const sample = planned.decision.result_sample;
  if (sample != nullptr) sample->users.fetch_sub(1);
  if (planned.clock != nullptr) planned.compressor->lose_time(planned.decision);
}

}  // namespace thinwire::nccl
