// Calls that are decided about, as they wait to be enqueued: one, and those of a group step by
// step.
#pragma once

#include <vector>

#include "run/compressor.h"
#include "run/transport.h"

namespace thinwire::nccl {

// A call and what was decided about it; its plans are in use.
struct Planned {
  Call call;
  Decision decision;
  Compressor* compressor = nullptr;
  Counters* counters = nullptr;
  Communicator* communicator = nullptr;
  std::size_t part = 0;       // of the call, whose exchanges come after those of the part before
  InFlight* clock = nullptr;  // of a call that is timed, after that has begun
};

// So many coded and raw calls of a group, whose exchanges come before those of the next step.
struct Step {
  std::size_t coded = 0, raw = 0;
};

// The streams of a communicator's calls in a group, more than one. NCCL lets none of the group
// begin before what is on any of them, and none of them go on before all of the group has ended.
struct Joined {
  int device = 0;
  std::vector<cudaStream_t> streams{};
};

// Calls step by step, and how far they are; what is left after communicators that do not block are
// in progress.
struct Rest {
  std::vector<Planned> calls;
  std::vector<KeptRaw> raw;
  std::vector<Step> steps;
  std::vector<Joined> joined{};        // none after they are joined after the last step
  std::vector<tw_stream_call> made{};  // of the step
  std::size_t step = 0, calls_done = 0, raw_done = 0;
  std::size_t prepared = 0;             // of `calls`
  std::uint32_t stage = 0, stages = 0;  // of the step
  bool is_open = false;                 // the program's group is to be ended
  std::vector<ncclComm_t> ends{};       // which the program has finalized after all that
  bool has_steps() const { return step < steps.size(); }
  bool is_left() const { return has_steps() || !joined.empty(); }
};

}  // namespace thinwire::nccl
