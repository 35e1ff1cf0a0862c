#include "collective/execute.h"

#include <algorithm>
#include <functional>

namespace thinwire::collective {
namespace {

bool sends(Action action) { return action == Action::kSend || action == Action::kSendValues; }

bool travels(Action action) {
  return sends(action) || action == Action::kReceive || action == Action::kReceiveValues;
}

}  // namespace

struct Executor::Run {
  const Schedule& schedule;
  std::span<const Block> blocks;
  const Program& program;
  const Arrays& arrays;
  const Means& means;
  const Status& hindrance;
  Tally& tally;
  Status first_error = {};
  std::uint32_t left = 0;  // tasks to be done

  const Step& step(const Task& task) const { return schedule.steps[task.step]; }
  Shape shape(const Task& task) const { return blocks[step(task).block].piece_shape(task.piece); }
  std::uint64_t raw_bytes(const Task& task) const { return means.engine.bytes(shape(task)); }

  MutableByteView packet_memory(const Task& task) const {
    const Workspace& memory = means.workspace;
    return {memory.packets + task.packet * memory.packet_stride, memory.packet_bytes};
  }

  // Where a piece of values lies.
  std::byte* values(const Task& task, Area area, std::uint32_t value) const {
    if (area == Area::kScratch) {
      const Workspace& memory = means.workspace;
      return memory.scratch + program.scratch_piece(value) * memory.scratch_bytes;
    }
    const std::uint32_t block = step(task).block;
    std::byte* begin = (area == Area::kInput ? arrays.input : arrays.output)[block];
    return begin + means.engine.bytes_of(blocks[block].piece_offset(task.piece));
  }
  std::byte* to(const Task& task) const { return values(task, step(task).to, task.to); }
  std::byte* from(const Task& task) const { return values(task, step(task).from, task.from); }
};

void Executor::make_queues(const Run& run) {
  const auto tasks = run.program.tasks();
  queues_.clear();
  queued_.clear();
  queue_of_.assign(tasks.size(), kNone);
  for (std::uint32_t at = 0; at < tasks.size(); ++at) {
    if (travels(run.step(tasks[at]).action)) queued_.push_back(at);
  }
  const auto key = [&](std::uint32_t task) {
    const Step& step = run.step(tasks[task]);
    return std::pair(step.peer, sends(step.action));
  };
  std::stable_sort(queued_.begin(), queued_.end(),
                   [&](std::uint32_t left, std::uint32_t right) { return key(left) < key(right); });
  for (std::uint32_t at = 0; at < queued_.size(); ++at) {
    const auto [peer, is_send] = key(queued_[at]);
    if (queues_.empty() || queues_.back().peer != peer || queues_.back().sends != is_send) {
      queues_.push_back({.peer = peer, .sends = is_send, .first = at, .end = at, .next = at});
    }
    queues_.back().end = at + 1;
    queue_of_[queued_[at]] = static_cast<std::uint32_t>(queues_.size() - 1);
  }
}

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

// What waited for a task that is done may have nothing left to wait for.
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

Status Executor::post(Run& run, std::uint32_t number, int peer, bool is_send) {
  const Task& task = run.program.tasks()[number];
  const Action action = run.step(task).action;
  Result<transport::Ticket> ticket = transport::Ticket{0};
  if (is_send) {
    Packet packet;
    if (action == Action::kSend) {
      packet = packets_[task.packet];
    } else if (!lost_[task.from]) {
      packet = {Packet::Kind::kValues, run.from(task), run.raw_bytes(task)};
    }
    if (packet.kind == Packet::Kind::kLost) packet.bytes = 0;
    run.tally.raw_bytes += run.raw_bytes(task);
    run.tally.wire_bytes += packet.bytes;
    ++run.tally.packets;
    run.tally.raw_packets += packet.kind == Packet::Kind::kValues;
    ticket = run.means.transport.post_send(peer, {packet.data, packet.bytes});
  } else {
    MutableByteView into(run.means.workspace.packets, run.means.workspace.packet_bytes);
    if (action == Action::kReceive) {
      into = run.packet_memory(task);
    } else if (run.hindrance.ok()) {
      into = {run.to(task), run.raw_bytes(task)};
    }
    ticket = run.means.transport.post_receive(peer, into);
  }
  if (!ticket.ok()) return ticket.status();
  tickets_.push_back(*ticket);
  under_way_.push_back(number);
  return {};
}

Status Executor::post_ready(Run& run, bool& progressed) {
  while (!awake_.empty()) {
    Queue& queue = queues_[awake_.back()];
    awake_.pop_back();
    while (queue.next < queue.end && waits_for_[queued_[queue.next]] == 0) {
      if (Status status = post(run, queued_[queue.next], queue.peer, queue.sends); !status.ok()) {
        return status;
      }
      ++queue.next;
      progressed = true;
    }
  }
  return {};
}

void Executor::arrive(Run& run, std::uint32_t number, std::uint64_t bytes) {
  const Task& task = run.program.tasks()[number];
  const Action action = run.step(task).action;
  const std::uint64_t raw_bytes = run.raw_bytes(task);
  if (action == Action::kReceive) {
    Packet& packet = packets_[task.packet];
    packet = {Packet::Kind::kFrame, run.packet_memory(task).data(), bytes};
    if (bytes == raw_bytes) packet.kind = Packet::Kind::kValues;
    if (bytes == 0 || !run.hindrance.ok()) packet.kind = Packet::Kind::kLost;
  } else if (action == Action::kReceiveValues) {
    if (bytes == raw_bytes) {
      lost_[task.to] = !run.hindrance.ok();
    } else {
      fail(run, task, {StatusCode::kDamaged, "another rank could not send its data"});
    }
  }
  --run.left;
  release(run, number);
}

Status Executor::collect(Run& run, bool& progressed) {
  if (tickets_.empty()) return {};
  arrivals_.resize(tickets_.size());
  const auto count = run.means.transport.test(tickets_, arrivals_.data());
  if (!count.ok()) return count.status();
  if (*count == 0) return {};
  progressed = true;
  for (std::uint32_t at = 0; at < *count; ++at) {
    const transport::Arrival& arrival = arrivals_[at];
    arrive(run, under_way_[arrival.index], arrival.bytes);
    under_way_[arrival.index] = kNone;
  }
  std::size_t kept = 0;
  for (std::size_t at = 0; at < tickets_.size(); ++at) {
    if (under_way_[at] == kNone) continue;
    tickets_[kept] = tickets_[at];
    under_way_[kept++] = under_way_[at];
  }
  tickets_.resize(kept);
  under_way_.resize(kept);
  return {};
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
  const bool adds = action == Action::kCombine || action == Action::kReduce;
  return (task.from != kNone && lost_[task.from]) || (adds && lost_[task.to]);
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
  if (step.action == Action::kEncode) {
    Backoff* const backoff = run.means.backoff;
    job.slot = run.packet_memory(task);
    job.plain = step.plain || run.blocks[step.block].plain;
    if (!job.plain && backoff != nullptr) job.plain = !backoff->tries();
  } else if (task.packet != kNone) {
    job.packet = packets_[task.packet];
  }
  return job;
}

void Executor::finish(Run& run, const Job& job) {
  const Task& task = run.program.tasks()[job.task];
  if (job.action == Action::kEncode) {
    run.tally.encode_seconds += job.seconds;
    packets_[task.packet] = job.packet;
    if (!job.plain && job.status.ok() && run.means.backoff != nullptr) {
      run.means.backoff->saw(job.packet.bytes >= run.raw_bytes(task));
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

// Begins the earliest task that is ready, where there is a thread for it.
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
    if (!work_on_next(run) && !progressed) run.means.transport.idle();
  }
  return {};
}

// Its threads work on the caller's memory.
void Executor::wait_for_crew(Run& run) {
  Job done;
  while (run.means.crew != nullptr && !run.means.crew->is_idle()) {
    if (!run.means.crew->take_back(done)) run.means.transport.idle();
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
    transport_failed_ = true;
    return status;
  }
  return run.first_error;
}

}  // namespace thinwire::collective
