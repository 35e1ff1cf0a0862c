#include "collective/slots/enqueue.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "collective/slots/device_slots.h"
#include "collective/slots/host_slots.h"
#include "device/context.h"
#include "device/enqueue.h"

namespace thinwire::collective {
namespace {

// Marks what was under way as lost; a slot without a header is damage where it comes to.
void lose(std::span<device::Outcome> outcomes) {
  std::fill(outcomes.begin(), outcomes.end(), failure(SlotFailure::kLost));
}

void await_turn(const SlotRun& run) {
  while (run.turns != nullptr && run.turns->ended.load(std::memory_order_acquire) != run.turn) {
    std::this_thread::yield();
  }
}

void end_turn(const SlotRun& run) {
  if (run.turns != nullptr) run.turns->ended.store(run.turn + 1, std::memory_order_release);
}

// No exception may leave the stream's thread. If it fails its outcomes are lost.
bool do_stage_on_host(const SlotRun& run, int stage) {
  HostSlots work(run.plan->settings());
  try {
    if (do_stage(run, stage, work).ok()) return true;
  } catch (...) {
  }
  lose(lent_outcomes(run));
  return false;
}

template <int kStage>
void do_on_host(void* argument) {
  auto& record = *static_cast<SlotRecord*>(argument);
  const SlotRun run = record.run;  // the record may be another call's after it is done
  const bool last = kStage == run.plan->stages() - 1;
  if (kStage == 0) await_turn(run);
  if (!do_stage_on_host(run, kStage) && last) {
    const auto outcomes = lent_outcomes(run);
    (void)HostSlots(run.plan->settings()).report({outcomes, outcomes_of(run.record), &record.done});
  }
  if (last) end_turn(run);
}

// One more than there are exchanges; what is bounded has two, and one before.
constexpr void (*kHostStages[])(void*) = {do_on_host<0>, do_on_host<1>, do_on_host<2>,
                                          do_on_host<3>, do_on_host<4>};
static_assert(std::size(kHostStages) == kMostExchanges + 1);

Status put_stages(const SlotRuns& runs, int stage) {
  for (std::uint32_t at = 0; at < runs.count(); ++at) {
    const SlotRun run = runs.run(at);
    if (stage >= run.plan->stages()) continue;
    transport::StreamTransport& transport = *runs.link(at).transport;
    Status status = transport.on_host() ? transport.call(kHostStages[stage], run.record, run.stream)
                                        : enqueue_stage(run, stage, runs.link(at).on_device);
    if (!status.ok()) return status;
  }
  return {};
}

Status post_all(const SlotRuns& runs, int number) {
  for (std::uint32_t at = 0; at < runs.count(); ++at) {
    const SlotRun run = runs.run(at);
    if (number >= run.plan->stages() - 1) continue;
    SlotLink& link = runs.link(at);
    if (!link.in_group) {
      if (Status status = link.transport->begin_group(); !status.ok()) return status;
      link.in_group = true;
    }
    if (Status status = link.transport->begin_call(at); !status.ok()) return status;
    if (Status status = post_exchange(run, number, *link.transport); !status.ok()) return status;
  }
  return {};
}

Status end_groups(const SlotRuns& runs) {
  Status first;
  for (std::uint32_t at = runs.count(); at-- > 0;) {
    SlotLink& link = runs.link(at);
    if (!link.in_group) continue;
    link.in_group = false;
    Status status = link.transport->end_group();
    if (first.ok()) first = status;
  }
  return first;
}

Status exchange_all(const SlotRuns& runs, int stage) {
  Status status = post_all(runs, stage);
  const Status ended = end_groups(runs);
  return status.ok() ? ended : status;
}

// Exchanges in rounds, for a call that is alone.
Status exchange_in_rounds(const SlotRun& run, SlotLink& link, int stage, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    if (Status status = link.transport->begin_group(); !status.ok()) return status;
    Status status = post_round(run, stage, round, *link.transport);
    const Status ended = link.transport->end_group();
    if (!status.ok() || !ended.ok()) return status.ok() ? ended : status;
  }
  return {};
}

Status exchange(const SlotRuns& runs, int stage) {
  const SlotRun first = runs.run(0);
  const int rounds = runs.count() == 1 ? first.plan->rounds(stage) : 1;
  return rounds > 1 ? exchange_in_rounds(first, runs.link(0), stage, rounds)
                    : exchange_all(runs, stage);
}

// Those of a group look for references before any of them has kept its result.
bool refers_before(const SlotRuns& runs, std::uint32_t end) {
  for (std::uint32_t at = 0; at < end; ++at) {
    if (&runs.link(at) == &runs.link(end) && runs.run(at).plan->difference().exists) return true;
  }
  return false;
}

// How many stages there are, if all runs are sound.
Result<int> stages_of(const SlotRuns& runs) {
  int stages = 0;
  for (std::uint32_t at = 0; at < runs.count(); ++at) {
    const SlotRun run = runs.run(at);
    if (Status status = check(run); !status.ok()) return status;
    if (run.plan->difference().exists && refers_before(runs, at)) {
      return {StatusCode::kInvalidArgument,
              "two calls of a group have references and are of one communicator"};
    }
    stages = std::max(stages, run.plan->stages());
  }
  return stages;
}

void prepare_records(const SlotRuns& runs) {
  for (std::uint32_t at = 0; at < runs.count(); ++at) {
    SlotRun run = runs.run(at);
    SlotLink& link = runs.link(at);
    if (run.plan->difference().exists && link.transport->on_host()) {
      if (link.turns == nullptr) link.turns = std::make_unique<HostTurns>();
      run.turns = link.turns.get();
      run.turn = link.turns->given++;
    }
    prepare_record(run);
  }
}

}  // namespace

Status enqueue_slots(const SlotRuns& runs) {
  const Result<int> stages = stages_of(runs);
  if (!stages.ok()) return stages.status();
  prepare_records(runs);
  for (int stage = 0; stage < *stages; ++stage) {
    if (Status status = put_stages(runs, stage); !status.ok()) return status;
    if (stage == *stages - 1) break;
    if (Status status = exchange(runs, stage); !status.ok()) return status;
  }
  return {};
}

Status enqueue_slots(const SlotRuns& runs, int stage, int* stages) {
  const Result<int> all = stages_of(runs);
  if (!all.ok()) return all.status();
  *stages = *all;
  if (stage >= *all) return {StatusCode::kInvalidArgument, "there is no such stage"};
  if (stage == 0) prepare_records(runs);
  if (Status status = put_stages(runs, stage); !status.ok()) return status;
  return stage == *all - 1 ? Status() : exchange_all(runs, stage);
}

namespace {

void write_time(void* at) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  std::atomic_ref(*static_cast<std::uint64_t*>(at))
      .store(static_cast<std::uint64_t>(count), std::memory_order_release);
}

}  // namespace

Status enqueue_time(transport::StreamTransport& transport, int device, std::uint64_t* at,
                    device::StreamHandle stream) {
  if (transport.on_host()) return transport.call(write_time, at, stream);
  const auto current = device::ContextGuard::enter(device);
  return current.ok() ? device::enqueue_time(at, stream) : current.status();
}

}  // namespace thinwire::collective
