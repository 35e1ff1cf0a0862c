// One run of a plan of slots: its local stages, and the exchanges between them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "collective/slots/bound.h"
#include "collective/slots/plan.h"
#include "collective/slots/work.h"
#include "device/stream.h"
#include "transport/stream_transport.h"

namespace thinwire::collective {

// The turns of runs that follow each other on streams of host functions.
struct HostTurns {
  std::uint64_t given = 0;  // of the thread that enqueues
  std::atomic<std::uint64_t> ended{0};
};

// State that a communicator's end on a GPU keeps from call to call.
struct OnDevice {
  // For calls with references, which follow each other on whichever streams; after there was one.
  std::unique_ptr<device::Order> order;
  // The device of the last call's memory and stream: those of most calls are the same.
  const std::byte* memory = nullptr;
  device::StreamHandle stream = nullptr;
  int device = -1;
};

// Memory that the caller lends until the stream has come past the run, and where its values lie.
struct SlotRun {
  const SlotPlan* plan = nullptr;
  std::uint64_t number = 0;
  const std::byte* send = nullptr;
  std::byte* receive = nullptr;
  std::byte* lent = nullptr;  // SlotPlan::device_bytes(), aligned to 256; contents may be any
  // SlotPlan::kept_bytes(), aligned to 256, zeros at a run's beginning and end, unless `clears`:
  // anything at its beginning. nullptr: a part of `lent` does.
  std::byte* kept = nullptr;
  bool clears = false;
  Mailbox* mailbox = nullptr;
  std::byte* record = nullptr;      // record_bytes(), memory that host and stream reach
  std::byte* references = nullptr;  // SlotCall::reference_bytes, aligned to 256
  bool forgets = false;             // they may hold anything
  HostTurns* turns = nullptr;       // of a run with references, from its enqueue on
  std::uint64_t turn = 0;
  device::StreamHandle stream = nullptr;
  SlotFactor factor{};  // of this rank's values, if the plan multiplies them
};

// How a record begins; the outcomes follow it. The run is there for host functions.
struct SlotRecord {
  device::Outcome done = 0;
  SlotRun run;
  int device = -1;  // after a stage has been enqueued on a GPU
};
inline constexpr std::uint64_t kRecordHeadBytes = 192;
static_assert(sizeof(SlotRecord) <= kRecordHeadBytes);

inline std::uint64_t bound_record_at(const SlotPlan& plan) {
  return kRecordHeadBytes +
         ceil_div(plan.outcomes() * sizeof(device::Outcome), kLineBytes) * kLineBytes;
}
inline std::uint64_t record_bytes(const SlotPlan& plan) {
  return bound_record_at(plan) + bound_record_bytes(plan);
}
inline BoundRecord& bound_record_of(const SlotPlan& plan, std::byte* record) {
  return *reinterpret_cast<BoundRecord*>(record + bound_record_at(plan));
}
inline SlotRecord& record_at(std::byte* record) { return *reinterpret_cast<SlotRecord*>(record); }
inline device::Outcome* outcomes_of(std::byte* record) {
  return reinterpret_cast<device::Outcome*>(record + kRecordHeadBytes);
}

// The codec's workspace, and where outcomes lie until the run's last stage brings them to the
// record.
inline bool keeps(const SlotRun& run) { return run.kept != nullptr && run.plan->kept_bytes() > 0; }
inline MutableByteView workspace_of(const SlotRun& run) {
  std::byte* const at = keeps(run) ? run.kept : run.lent + run.plan->workspace_at();
  return {at, run.plan->workspace_bytes()};
}
inline std::span<device::Outcome> lent_outcomes(const SlotRun& run) {
  const MutableByteView workspace = workspace_of(run);
  return {reinterpret_cast<device::Outcome*>(workspace.data() + workspace.size()),
          run.plan->outcomes()};
}
// Bytes of the workspace and outcomes that must be zeroed before the run; 0 if they are zero
// already. Kept memory is zeroed to its end: a run of another plan may come next, whose outcomes
// lie elsewhere in it.
inline std::uint64_t cleared_bytes(const SlotRun& run) {
  if (keeps(run)) return run.clears ? run.plan->kept_bytes() : 0;
  const std::uint32_t outcomes = run.plan->outcomes();
  if (outcomes == 0) return 0;
  return run.plan->workspace_bytes() + (outcomes + 1) * sizeof(device::Outcome);
}

// kInvalidArgument, and what is missing or not aligned.
Status check(const SlotRun& run);

// Makes a record ready; the host's own memory is touched and nothing enqueued.
void prepare_record(const SlotRun& run);

// The local work of stage `stage`, 0 to plan->stages() - 1.
Status do_stage(const SlotRun& run, int stage, SlotWork& work);

// Posts the exchange after that stage; inside a group.
Status post_exchange(const SlotRun& run, int stage, transport::StreamTransport& transport);

// The same of round `round`, 0 to plan->rounds(stage) - 1, of an exchange that has several.
Status post_round(const SlotRun& run, int stage, int round, transport::StreamTransport& transport);

// The work of a run on this rank, after the stream has come past it.
struct SlotReport {
  bool complete = false;
  std::uint32_t encoded = 0, declined = 0, spilled_out = 0, spilled_in = 0;
  std::array<std::uint32_t, 2> needed{};
  std::uint64_t raw_bytes = 0, frame_bytes = 0;
  std::uint64_t difference_bytes = 0;  // of the blocks, all ranks', that were coded as differences
  Status status;
};
SlotReport check_record(const SlotPlan& plan, const std::byte* record);

}  // namespace thinwire::collective
