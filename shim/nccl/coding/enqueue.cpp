#include "coding/enqueue.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <vector>

#include "abi/events.h"
#include "base/of_thread.h"
#include "calls/pass.h"
#include "coding/ranges.h"
#include "coding/service.h"
#include "process/reason.h"

namespace thinwire::nccl {
namespace {

std::uint64_t next_group() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Of this thread, so that nothing is allocated once it has been as large.
struct Batch {
  std::vector<Coder*> coders;  // each once, all locked
  std::vector<tw_stream_call> calls;
  std::vector<std::size_t> order;  // largest first, as memory is reserved for them

  // In one order, whichever thread.
  void lock(std::span<const Planned> planned) {
    coders.clear();
    for (const Planned& each : planned) coders.push_back(each.coder);
    std::ranges::sort(coders);
    coders.erase(std::ranges::unique(coders).begin(), coders.end());
    for (Coder* const each : coders) each->mutex().lock();
    // Before anything is enqueued: CUDA may load a kernel of NCCL's as it is launched, and wait for
    // the whole GPU, where a kernel of ours may already wait for the service thread.
    for (Coder* const each : coders) look_after(*each);
  }
  void unlock() {
    for (Coder* const each : coders) each->mutex().unlock();
  }
};

Batch& batch() { return of_thread<Batch>(); }

bool prepare(std::span<const Planned> planned, Part part, Batch& into) {
  into.calls.resize(planned.size());
  into.order.resize(planned.size());
  std::iota(into.order.begin(), into.order.end(), std::size_t{0});
  const auto bytes_of = [&](std::size_t at) {
    return planned[at].decision.plan->info.device_bytes;
  };
  std::ranges::sort(into.order, std::greater(), bytes_of);
  const std::uint64_t group = next_group();
  bool all = true;
  for (const std::size_t at : into.order) {
    const Planned& each = planned[at];
    const Flight* const flight =
        each.coder->prepare(each.call, each.decision, part, group, each.counters, &into.calls[at]);
    all = all && flight != nullptr;
  }
  return all;
}

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

// What a step needs it is lent as it begins: its records would be taken for earlier calls' before,
// and memory of the step before serves again, as streams have the one behind the other.
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
  if (is_alone && rest.calls.front().coder->blocks()) return enqueue(own.calls);
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
    if (result != ncclSuccess && result != ncclInProgress) return result;
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

// What is missing now nobody can make up for.
void fail_all(const Batch& of) {
  for (Coder* const each : of.coders) each->fail();
}

}  // namespace

ncclResult_t enqueue_coded(const Planned& call, Rest* rest) {
  const Range range({&call, 1});
  Batch& own = batch();
  own.lock({&call, 1});
  ncclResult_t result = prepare({&call, 1}, Part::kCall, own) ? ncclSuccess : ncclSystemError;
  if (result == ncclSuccess) {
    result = call.coder->blocks() ? enqueue(own.calls) : enqueue_stages(own.calls, *rest);
  }
  if (result == ncclInProgress) {
    rest->calls = {call};
    rest->prepared = 1;
    rest->made = own.calls;
    rest->steps = {{1, 0}};
  } else if (result != ncclSuccess) {
    fail_all(own);
  }
  own.unlock();
  return result;
}

ncclResult_t enqueue_group(Rest& group) {
  const Range range(group.calls);
  Batch& own = batch();
  own.lock(group.calls);
  ncclResult_t result = join_all(group.joined);
  if (result == ncclSuccess) {
    result = enqueue_steps(group, own, true);
  } else {
    THINWIRE_PASS(GroupEnd);
  }
  if (result != ncclSuccess && result != ncclInProgress) {
    give_back_plans(group);
    fail_all(own);
  }
  own.unlock();
  return result;
}

ncclResult_t enqueue_rest(Rest& rest) {
  const Range range(rest.calls);
  Batch& own = batch();
  own.lock(rest.calls);
  const ncclResult_t result = enqueue_steps(rest, own, false);
  own.unlock();
  return result;
}

void give_up(const Rest& rest) {
  give_back_plans(rest);
  Batch& own = batch();
  own.lock(rest.calls);
  for (Coder* const each : own.coders) each->fail();
  own.unlock();
}

namespace {

void enqueue_trial(const Planned& tried, Part part) {
  Batch& own = batch();
  own.lock({&tried, 1});
  if (!prepare({&tried, 1}, part, own)) {
    for (Class* const of : tried.decision.of) {
      if (of != nullptr) of->veto(TW_RAW_NO_MEMORY);
    }
  } else if (enqueue(own.calls) != ncclSuccess) {
    tried.coder->fail();
  }
  own.unlock();
}

}  // namespace

void enqueue_before(std::span<Planned> calls) {
  for (const Planned& each : calls) {
    if (!each.decision.coded() && each.decision.plan != nullptr) enqueue_trial(each, Part::kTrial);
  }
  // Behind all trials, whose time is not theirs.
  for (Planned& each : calls) {
    if (each.decision.is_timed()) each.clock = each.coder->begin_time(each.call, each.decision);
  }
}

void enqueue_behind(std::span<const Planned> calls) {
  for (const Planned& each : calls) each.coder->end_time(each.call, each.clock);
  for (const Planned& each : calls) {
    if (each.decision.result_trial != nullptr) enqueue_trial(each, Part::kResultTrial);
  }
}

void note_end(const Planned& planned) {
  // A clock in a graph would be read again at each replay.
  if (planned.clock == nullptr && !planned.call.is_captured())
    planned.coder->note_end(planned.call);
}

void leave_out_behind(const Planned& planned) {
  Plan* const trial = planned.decision.result_trial;
  if (trial != nullptr) trial->users.fetch_sub(1);
}

}  // namespace thinwire::nccl
