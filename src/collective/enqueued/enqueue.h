// The second driver of schedules: enqueues all of a rank's tasks on one stream and waits for
// nothing, so that a collective may be captured into a graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collective/algorithms.h"
#include "collective/arrays.h"
#include "collective/engine.h"
#include "collective/enqueued/phases.h"
#include "collective/enqueued/run_plan.h"
#include "collective/enqueued/stream_work.h"
#include "transport/stream_transport.h"

namespace thinwire::collective {

// What the caller lends until the stream has come past the run.
struct EnqueuedMemory {
  std::byte* device = nullptr;          // device_bytes(), aligned to 256; contents may be any
  device::Outcome* outcomes = nullptr;  // outcomes() words that device and host reach
};

// One rank's part of one collective, planned once and enqueued as often as wished. Two runs must
// not share memory unless they follow one another on one stream.
class Enqueuer {
 public:
  // Plans a run; all that is passed must stay as it is as long as this plan is used. Every rank
  // must know every size beforehand: kUnsupported for specs whose frames depend on the data ("auto"
  // among them), for arrays that the codec does not take, for rows that groups cannot run
  // (can_be_enqueued()), and for staged schedules. Pieces that could not shrink stay raw.
  Status prepare(const Row& row, const Schedule& schedule, std::span<const Block> blocks,
                 const Program& program, const EngineSettings& settings, const StreamWork& work);

  std::uint64_t device_bytes() const { return plan_.device_bytes(); }
  std::uint32_t outcomes() const { return plan_.outcomes(); }

  // Bytes that a run sends, as they travel.
  std::uint64_t wire_bytes() const { return plan_.wire_bytes(); }

  // Enqueues a run; allocates nothing, and changes nothing here. `work` and `transport` enqueue on
  // `stream`. After a failure messages may be missing: the transport cannot be used again.
  Status enqueue(const Arrays& arrays, const EnqueuedMemory& memory, StreamWork& work,
                 transport::StreamTransport& transport, device::StreamHandle stream);

  // Of a run that the stream has come past: kDeclined where the codec did not take this rank's
  // data, kDamaged where what came was no frame of the piece, whatever the cause. The values
  // concerned are NaN then, here and wherever they went.
  Status check(const device::Outcome* outcomes) const;

 private:
  struct Run;  // the arguments of enqueue()

  std::byte* values(const Run& run, const Task& task, Area area, std::uint32_t value) const;
  Status do_local(Run& run, const Task& task);
  Status encode(Run& run, const Task& task, const Shape& shape);
  Status open_packet(Run& run, const Task& task, const Shape& shape);
  Status post(Run& run, const Task& task);
  Status post_group(Run& run, std::uint32_t phase);

  RunPlan plan_;
  Phases phases_;
  std::vector<Packet> packets_;  // of the run that is being enqueued
};

}  // namespace thinwire::collective
