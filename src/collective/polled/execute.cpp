#include "collective/polled/execute.h"

#include <algorithm>
#include <functional>
#include <thread>

#include "collective/polled/run.h"

namespace thinwire::collective {

void Executor::prepare(const Run& run) {
  const auto tasks = run.program.tasks();
  make_queues(run);
  ready_.clear();
  awake_.clear();
  tickets_.clear();
  under_way_.clear();
  packets_.assign(run.program.packets(), {});
  lost_.assign(run.program.values(), !run.hindrance.ok());
  waits_for_.resize(tasks.size());
  for (std::uint32_t at = 0; at < tasks.size(); ++at) waits_for_[at] = tasks[at].waits_for;
  for (std::uint32_t at = 0; at < tasks.size(); ++at) {
    if (waits_for_[at] == 0 && queue_of_[at] == kNone) ready_.push_back(at);
  }
  std::make_heap(ready_.begin(), ready_.end(), std::greater<>());
  for (std::uint32_t queue = 0; queue < queues_.size(); ++queue) awake_.push_back(queue);
}

// Releases tasks that waited for one that is done, if they have nothing left to wait for.
void Executor::release(const Run& run, std::uint32_t task) {
  for (const std::uint32_t follower : run.program.followers(task)) {
    if (--waits_for_[follower] > 0) continue;
    if (queue_of_[follower] != kNone) {
      awake_.push_back(queue_of_[follower]);
    } else {
      ready_.push_back(follower);
      std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
    }
  }
}

void Executor::fail(Run& run, const Task& task, const Status& status) {
  if (run.first_error.ok()) run.first_error = status;
  if (task.to != kNone) {
    lost_[task.to] = true;
  } else if (task.packet != kNone) {
    packets_[task.packet] = {};
  }
}

// Whether what a task reads could not be had.
bool Executor::has_lost(const Run& run, const Task& task) const {
  const Action action = run.step(task).action;
  if (action == Action::kAddExactly) {
    const std::uint32_t window = run.program.window();
    for (auto at = task.to; at < run.program.scratch_pieces(); at += window) {
      if (lost_[at]) return true;
    }
  }
  const bool adds = action == Action::kCombine || action == Action::kReduce;
  return (task.from != kNone && lost_[task.from]) || (adds && lost_[task.to]);
}

// Why a piece that is to be encoded is not tried; kCompress if it is.
plan::Reason Executor::why_raw(Run& run, const Step& step) {
  if (step.is_raw) return plan::Reason::kSchedule;
  if (run.blocks[step.block].is_raw) return plan::Reason::kShape;
  const bool tries =
      run.means.backoff == nullptr || run.means.backoff->next() != choose::Effort::kSkip;
  return tries ? plan::Reason::kCompress : plan::Reason::kDeclinedLately;
}

// The reference against which a piece may be coded. A rank sends its own block so, not those that
// it codes again for others.
message::Reference Executor::reference_of(const Run& run, const Task& task) {
  const CallReference* const reference = run.means.engine.reference();
  const std::uint32_t block = run.step(task).block;
  if (reference == nullptr) return {};
  const bool encodes = run.step(task).action == Action::kEncode;
  if (encodes && reference->sends_block != block) return {};
  return reference->piece(block,
                          run.means.engine.bytes_of(run.blocks[block].piece_offset(task.piece)));
}

Job Executor::job_of(Run& run, std::uint32_t number) {
  const Task& task = run.program.tasks()[number];
  const Step& step = run.step(task);
  Job job;
  job.task = number;
  job.action = step.action;
  job.shape = run.shape(task);
  if (task.to != kNone) job.to = run.to(task);
  if (task.from != kNone) job.from = run.from(task);
  if (step.action == Action::kAddExactly) {
    job.stride = run.program.window() * run.means.workspace.scratch_bytes;
    job.arrays = static_cast<int>(run.schedule.scratch);
  } else if (step.action == Action::kEncode) {
    job.slot = run.packet_memory(task);
    job.why_raw = why_raw(run, step);
    job.reference = reference_of(run, task);
  } else if (task.packet != kNone) {
    job.packet = packets_[task.packet];
    job.reference = reference_of(run, task);
  }
  return job;
}

void Executor::finish(Run& run, const Job& job) {
  const Task& task = run.program.tasks()[job.task];
  if (job.action == Action::kEncode) {
    run.tally.encode_seconds += job.seconds;
    packets_[task.packet] = job.packet;
    if (job.packet.is_delta) {
      ++run.tally.delta_packets;
      run.tally.delta_bytes += run.raw_bytes(task);
      run.tally.delta_wire_bytes += job.packet.bytes;
    }
    if (!job.is_raw() && job.status.ok() && run.means.backoff != nullptr) {
      const bool shrank = job.packet.bytes < run.raw_bytes(task);
      shrank ? run.means.backoff->succeeded() : run.means.backoff->declined();
    }
  } else {
    run.tally.decode_seconds += job.seconds;
  }
  if (!job.status.ok()) {
    fail(run, task, job.status);
  } else if (task.to != kNone) {
    lost_[task.to] = false;
  }
  --run.left;
  release(run, job.task);
}

// Begins the earliest task that is ready, if there is a thread for it.
bool Executor::work_on_next(Run& run) {
  Crew* const crew = run.means.crew;
  if (ready_.empty() || (crew != nullptr && !crew->has_room())) return false;
  std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
  const std::uint32_t number = ready_.back();
  ready_.pop_back();
  const Task& task = run.program.tasks()[number];
  if (!run.hindrance.ok() || has_lost(run, task)) {
    Job none;
    none.task = number;
    none.action = run.step(task).action;
    none.status = run.hindrance;
    if (none.status.ok()) none.status = {StatusCode::kDamaged, "data from another rank was lost"};
    finish(run, none);
    return true;
  }
  Job job = job_of(run, number);
  if (crew != nullptr) {
    crew->hand_over(job);
  } else {
    perform(run.means.engine, job);
    finish(run, job);
  }
  return true;
}

void Executor::idle(const Run& run) {
  if (run.means.crowded) std::this_thread::yield();
  run.means.transport.idle();
}

Status Executor::advance(Run& run) {
  Job done;
  while (run.left > 0) {
    bool progressed = false;
    if (Status status = post_ready(run, progressed); !status.ok()) return status;
    if (Status status = collect(run, progressed); !status.ok()) return status;
    while (run.means.crew != nullptr && run.means.crew->take_back(done)) {
      finish(run, done);
      progressed = true;
    }
    if (!awake_.empty()) continue;
    if (!work_on_next(run) && !progressed) idle(run);
  }
  return {};
}

// Its threads work on the caller's memory.
void Executor::wait_for_crew(Run& run) {
  Job done;
  while (run.means.crew != nullptr && !run.means.crew->is_idle()) {
    if (!run.means.crew->take_back(done)) idle(run);
  }
}

Status Executor::run(const Schedule& schedule, std::span<const Block> blocks,
                     const Program& program, const Arrays& arrays, const Means& means,
                     const Status& hindrance, Tally& tally) {
  Run run{schedule, blocks, program, arrays, means, hindrance, tally, hindrance};
  run.left = static_cast<std::uint32_t>(program.tasks().size());
  prepare(run);
  if (Status status = advance(run); !status.ok()) {
    wait_for_crew(run);
    means.transport.give_up();
    transport_failed_ = true;
    return status;
  }
  return run.first_error;
}

}  // namespace thinwire::collective
