#include "collective/execute.h"

#include <algorithm>
#include <chrono>
#include <functional>

namespace thinwire::collective {
namespace {

bool sends(Action action) { return action == Action::kSend || action == Action::kSendValues; }

bool travels(Action action) {
  return sends(action) || action == Action::kReceive || action == Action::kReceiveValues;
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

struct Executor::Run {
  const Schedule& schedule;
  std::span<const Block> blocks;
  const Program& program;
  const Arrays& arrays;
  const Workspace& workspace;
  Engine& engine;
  transport::Transport& transport;
  const Status& hindrance;
  Tally& tally;
  Status first_error = {};
  std::uint32_t left = 0;  // tasks to be done

  const Step& step(const Task& task) const { return schedule.steps[task.step]; }
  Shape shape(const Task& task) const { return blocks[step(task).block].piece_shape(task.piece); }
  std::uint64_t raw_bytes(const Task& task) const { return engine.bytes(shape(task)); }

  MutableByteView packet_memory(const Task& task) const {
    return {workspace.packets + task.packet * workspace.packet_stride, workspace.packet_bytes};
  }

  // Where a piece of values lies.
  std::byte* values(const Task& task, Area area, std::uint32_t value) const {
    if (area == Area::kScratch) {
      return workspace.scratch + program.scratch_piece(value) * workspace.scratch_bytes;
    }
    const std::uint32_t block = step(task).block;
    std::byte* begin = (area == Area::kInput ? arrays.input : arrays.output)[block];
    return begin + engine.bytes_of(blocks[block].piece_offset(task.piece));
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
    ticket = run.transport.post_send(peer, {packet.data, packet.bytes});
  } else {
    MutableByteView into(run.workspace.packets, run.workspace.packet_bytes);
    if (action == Action::kReceive) {
      into = run.packet_memory(task);
    } else if (run.hindrance.ok()) {
      into = {run.to(task), run.raw_bytes(task)};
    }
    ticket = run.transport.post_receive(peer, into);
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
  const auto count = run.transport.test(tickets_, arrivals_.data());
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

Status Executor::perform(Run& run, std::uint32_t number) {
  if (!run.hindrance.ok()) return run.hindrance;
  const Task& task = run.program.tasks()[number];
  const Action action = run.step(task).action;
  const Shape shape = run.shape(task);
  const bool needs_from = task.from != kNone,
             adds = action == Action::kCombine || action == Action::kReduce;
  if ((needs_from && lost_[task.from]) || (adds && lost_[task.to])) {
    return {StatusCode::kDamaged, "data from another rank was lost"};
  }
  switch (action) {
    case Action::kCopy:
      return run.engine.copy(run.to(task), run.from(task), shape);
    case Action::kCombine:
      return run.engine.combine(run.to(task), run.from(task), shape);
    case Action::kDecode:
      return run.engine.decode(packets_[task.packet], shape, run.to(task));
    case Action::kReduce:
      return run.engine.reduce(packets_[task.packet], shape, run.to(task));
    case Action::kEncode: {
      Engine& engine = run.engine;
      const MutableByteView slot = run.packet_memory(task);
      const Step& step = run.step(task);
      auto packet = step.plain || run.blocks[step.block].plain
                        ? engine.pass(run.from(task), shape, slot)
                        : engine.encode(run.from(task), shape, slot);
      if (packet.ok()) packets_[task.packet] = *packet;
      return packet.status();
    }
    default:
      return {StatusCode::kInternal, "a message is no local step"};
  }
}

void Executor::work(Run& run, std::uint32_t number) {
  const Task& task = run.program.tasks()[number];
  const Action action = run.step(task).action;
  const Clock::time_point begin = Clock::now();
  const Status status = perform(run, number);
  (action == Action::kEncode ? run.tally.encode_seconds : run.tally.decode_seconds) +=
      seconds_since(begin);
  if (!status.ok()) {
    fail(run, task, status);
  } else if (task.to != kNone) {
    lost_[task.to] = false;
  }
  --run.left;
  release(run, number);
}

Status Executor::advance(Run& run) {
  while (run.left > 0) {
    bool progressed = false;
    if (Status status = post_ready(run, progressed); !status.ok()) return status;
    if (Status status = collect(run, progressed); !status.ok()) return status;
    if (!awake_.empty()) continue;
    if (!ready_.empty()) {
      std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
      const std::uint32_t task = ready_.back();
      ready_.pop_back();
      work(run, task);
    } else if (!progressed) {
      run.transport.idle();
    }
  }
  return {};
}

Status Executor::run(const Schedule& schedule, std::span<const Block> blocks,
                     const Program& program, const Arrays& arrays, const Workspace& workspace,
                     Engine& engine, transport::Transport& transport, const Status& hindrance,
                     Tally& tally) {
  Run run{schedule, blocks,    program,   arrays, workspace,
          engine,   transport, hindrance, tally,  hindrance};
  run.left = static_cast<std::uint32_t>(program.tasks().size());
  prepare(run);
  if (Status status = advance(run); !status.ok()) {
    transport_failed_ = true;
    return status;
  }
  return run.first_error;
}

}  // namespace thinwire::collective
